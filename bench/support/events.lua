-- One request after the other, each with event ids of its own; wrk calls request() for every one.
-- Environment: BENCH_PATH, BENCH_KEY (company), BENCH_RUN (8 hexadecimal characters), BENCH_BATCH (events a body).
local path = os.getenv("BENCH_PATH") or "/"
local key = os.getenv("BENCH_KEY") or "000000000000000000000000"
local run = os.getenv("BENCH_RUN") or "00000000"
local batch = tonumber(os.getenv("BENCH_BATCH") or "1")
local format = string.format
local counter = 0

local function event()
  counter = counter + 1
  return '{"key":"' .. key .. '","name":"product_page","url":"https://shop.example/products/85123A?utm_source=news",'
    .. '"tmpId":"' .. format("c%024d", counter % 50000) .. '","data":{"ids":["85123A","71053"],"store":"north"},'
    .. '"eventId":"' .. run .. '-0000-4000-8000-' .. format("%012x", counter) .. '","v":1,"timestamp":' .. now .. '}'
end

function init()
  now = tostring(os.time() * 1000)
end

function request()
  local body
  if batch == 1 then
    body = event()
  else
    local parts = {}
    for i = 1, batch do parts[i] = event() end
    body = "[" .. table.concat(parts, ",") .. "]"
  end
  return "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nUser-Agent: okhttp/4.12\r\nContent-Length: "
    .. #body .. "\r\n\r\n" .. body
end
