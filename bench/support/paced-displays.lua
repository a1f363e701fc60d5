-- Displays of one address at a fixed rate, whatever the answers take: an open loop. A latency counts from the moment at
-- which a request was due, so that waiting for a slow server is not left out.
-- Arguments: port, path, requests per second, seconds, connections, values of the parameter city.
-- Prints one line of JSON: {sent, ok, failed, p50, p99, longest} in milliseconds.
package.path = arg[0]:match("^(.*/)") .. "?.lua;" .. package.path
local pacing = require("pacing")

local cities = tonumber(arg[6])
local tail = " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Version/17.0 Safari/605.1.15\r\n\r\n"
local counter = 0

pacing.run(tonumber(arg[1]), tonumber(arg[3]), tonumber(arg[4]), tonumber(arg[5]), function()
  counter = counter + 1
  return "GET " .. arg[2] .. "?trk-u=person-" .. counter % 50000 .. "&trk-l=en_GB&city=city-" .. counter % cities .. tail
end)
