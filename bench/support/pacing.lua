-- An open loop: requests at a fixed rate over some connections, whatever the answers take.
local loopback = require("loopback")

local pacing = {}

-- Sends what make() gives, `rate` times a second for `seconds`, and prints one line of JSON:
-- {sent, ok, failed, p50, p99, longest} in milliseconds. A latency counts from the moment at which a request was due.
function pacing.run(port, rate, seconds, connections, make)
  local sockets = loopback.connections(port, connections)
  local due_of, free = {}, {}
  for index = 1, connections do
    sockets.open(index)
    free[index] = index
  end

  -- Requests by their latency in steps of 0.05 ms.
  local histogram, longest = {}, 0
  local sent, ok, failed, under_way = 0, 0, 0, 0
  -- Requests that found no free connection, by the number of the next one.
  local waiting_from, issued = 0, 0
  local started = loopback.now()
  local function due_at(number) return started + number * 1000 / rate end

  local function send(index, due)
    due_of[index] = due
    sockets.send(index, make())
    sent, under_way = sent + 1, under_way + 1
  end

  local function receive(index, text)
    if text:sub(1, 12) == "HTTP/1.1 200" then ok = ok + 1 else failed = failed + 1 end
    local step = math.max(0, math.floor((loopback.now() - due_of[index]) * 20))
    histogram[step] = (histogram[step] or 0) + 1
    longest = math.max(longest, step)
    under_way = under_way - 1
    if waiting_from < issued then
      send(index, due_at(waiting_from))
      waiting_from = waiting_from + 1
    else
      free[#free + 1] = index
    end
  end

  local all = math.floor(seconds * rate)
  local deadline = started + seconds * 1000 + 10000
  while (issued < all or under_way > 0) and loopback.now() < deadline do
    local now = loopback.now()
    while issued < all and due_at(issued) <= now do
      issued = issued + 1
      if waiting_from == issued - 1 and #free > 0 then
        waiting_from = issued
        -- In turn, so that no connection is so long silent that the service closes it.
        send(table.remove(free, 1), due_at(issued - 1))
      end
    end
    sockets.wait(1, receive)
  end

  local function at(share)
    local seen = 0
    for step = 0, longest do
      seen = seen + (histogram[step] or 0)
      if seen >= (ok + failed) * share then return step / 20 end
    end
  end
  print(string.format('{"sent":%d,"ok":%d,"failed":%d,"p50":%.2f,"p99":%.2f,"longest":%.2f}',
    sent, ok, failed + (issued - sent) + under_way, at(0.5), at(0.99), longest / 20))
end

return pacing
