-- Sends single events at a fixed rate, whatever the answers take: an open loop. A latency counts from the moment at
-- which a request was due, so that waiting for a slow server is not left out.
-- Arguments: port, path, company, events per second, seconds, connections.
-- Prints one line of JSON: {sent, ok, failed, p50, p99, longest} in milliseconds.
package.path = arg[0]:match("^(.*/)") .. "?.lua;" .. package.path
local loopback = require("loopback")
local pacing = require("pacing")

local port, path, key = tonumber(arg[1]), arg[2], arg[3]
local rate, seconds, connections = tonumber(arg[4]), tonumber(arg[5]), tonumber(arg[6])

math.randomseed(loopback.today())
local run = string.format("%08x", math.random(0, 0x7fffffff))
local counter = 0
local head = "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nUser-Agent: okhttp/4.12\r\nContent-Length: "
local before = '{"key":"' .. key .. '","name":"product_page","url":"https://shop.example/products/85123A?utm_source=news","tmpId":"c'
local between = '","data":{"ids":["85123A","71053"],"store":"north"},"eventId":"' .. run .. "-0000-4000-8000-"
local after = '","v":1,"timestamp":' .. string.format("%d", loopback.today()) .. "}"

local function request()
  counter = counter + 1
  local body = before .. string.format("%024d", counter % 50000) .. between .. string.format("%012x", counter) .. after
  return head .. #body .. "\r\n\r\n" .. body
end

pacing.run(port, rate, seconds, connections, request)
