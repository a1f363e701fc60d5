-- Users who sign in at once, each from a connection of its own; each tries again about when Retry-After asks it to,
-- until all have signed in.
-- Arguments: port, path, client, user name, password, how many people.
-- Prints one line of JSON: {waits, ms}, how often a sign-in had to wait and how long it took until all had signed in.
package.path = arg[0]:match("^(.*/)") .. "?.lua;" .. package.path
local loopback = require("loopback")

local port, path, people = tonumber(arg[1]), arg[2], tonumber(arg[6])
local body = string.format('{"grant_type":"password","client_id":"%s","username":"%s","password":"%s"}', arg[3], arg[4], arg[5])
local request = "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
  .. #body .. "\r\n\r\n" .. body

math.randomseed(loopback.today())
local sockets = loopback.connections(port, people)
local started = loopback.now()
for person = 1, people do
  sockets.open(person)
  sockets.send(person, request)
end

local waits, inside, due = 0, 0, {}
local function receive(person, text)
  local status = tonumber(text:sub(10, 12))
  if status == 200 then
    inside = inside + 1
    return
  end
  if status ~= 503 then error("a sign-in was answered " .. status) end
  waits = waits + 1
  local retry_after = tonumber(text:lower():match("retry%-after: (%d+)"))
  due[person] = loopback.now() + retry_after * 1000 * (0.5 + math.random())
end

while inside < people do
  if loopback.now() - started > 120000 then error("not all were let in") end
  sockets.wait(5, receive)
  local now = loopback.now()
  for person, moment in pairs(due) do
    if moment <= now then
      due[person] = nil
      sockets.send(person, request)
    end
  end
end
print(string.format('{"waits":%d,"ms":%.0f}', waits, loopback.now() - started))
