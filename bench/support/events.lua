-- One request after the other, each with event ids of its own; wrk calls request() for every one.
-- Environment: BENCH_PATH, BENCH_KEY (company), BENCH_RUN (8 hexadecimal characters), BENCH_BATCH (events a body),
-- BENCH_DAYS (0: the same kind of event, now; else sessions of a shop, spread over so many days back), BENCH_EXPERIMENT
-- (each session begins with an exposure to a variant of this experiment, the same for a visitor), BENCH_WRITE_KEY
-- (datasource: the plain events as calls in the Segment shape).
local path = os.getenv("BENCH_PATH") or "/"
local key = os.getenv("BENCH_KEY") or "000000000000000000000000"
local run = os.getenv("BENCH_RUN") or "00000000"
local batch = tonumber(os.getenv("BENCH_BATCH") or "1")
local days = tonumber(os.getenv("BENCH_DAYS") or "0")
local experiment = os.getenv("BENCH_EXPERIMENT")
local write_key = os.getenv("BENCH_WRITE_KEY")
local format, random = string.format, math.random
local counter = 0
local now, iso, started

local function event_id()
  counter = counter + 1
  return run .. "-0000-4000-8000-" .. format("%012x", counter)
end

local function plain_event()
  local id = event_id()
  return '{"key":"' .. key .. '","name":"product_page","url":"https://shop.example/products/85123A?utm_source=news",'
    .. '"tmpId":"' .. format("c%024d", counter % 50000) .. '","data":{"ids":["85123A","71053"],"store":"north"},'
    .. '"eventId":"' .. id .. '","v":1,"timestamp":' .. now .. '}'
end

local function segment_call()
  local id = event_id()
  return '{"type":"track","event":"Product Viewed","anonymousId":"' .. format("c%024d", counter % 50000)
    .. '","messageId":"' .. id .. '","timestamp":"' .. iso .. '","properties":{"product_id":"85123A","store":"north"},'
    .. '"context":{"page":{"url":"https://shop.example/products/85123A?utm_source=news"},'
    .. '"library":{"name":"analytics-node","version":"3.1.0"}},"integrations":{}}'
end

-- A visitor's session: some minutes of events a few seconds apart, with a purchase at the end of a few.
local session = { left = 0 }
local names = { "product_page", "product_page", "product_page", "category_view", "product_hover", "click", "add_cart" }

local function begin_session()
  -- Few visitors come often, most come once: the square favours small numbers.
  local visitor = math.floor(500000 * random() * random())
  session.left = random(3, 16)
  session.time = started - random(0, days * 86400 - 1) * 1000
  session.tmp = format("c%024d", visitor)
  session.client = visitor % 20 < 7 and format("u%07d", visitor) or nil
  session.store = "store-" .. visitor % 20
  session.buys = random() < 0.3
  session.identifies = visitor % 8 == 0
  session.variant = experiment and (visitor % 2 == 0 and "control" or "treatment") or nil
end

local function shop_event()
  if session.left == 0 then begin_session() end
  session.left = session.left - 1
  session.time = session.time + random(4000, 90000)
  local id = event_id()
  local name, data = names[random(7)], nil
  local client = session.client
  if session.variant then
    name, data = "experiment_exposure", '{"experimentId":"' .. experiment .. '","variantId":"' .. session.variant .. '"}'
    session.variant = nil
  elseif session.left == 0 and session.buys then
    name = "purchase"
    data = '{"ids":["sku-' .. random(5000) .. '","sku-' .. random(5000) .. '"],"value":"' .. format("%.2f", random(500, 20000) / 100)
      .. '","transId":"t-' .. run .. counter .. '","store":"' .. session.store .. '"}'
  elseif session.identifies and session.left == 1 then
    name, data, client = "identify", "{}", "u" .. session.tmp:sub(-7)
  elseif random() < 0.15 then
    name = random() < 0.8 and "workflow_display" or "workflow_click"
    local branch = random(4)
    data = '{"workflowId":"65f0c0ffee5ca1ab1e0dd' .. random(100, 299) .. '","branchId":"b' .. branch
      .. '","individualized":"' .. (branch > 1 and "true" or "false") .. '","message":"m' .. random(50)
      .. '","zone":' .. random(0, 4) .. ',"generationMs":' .. random(1, 40) .. '}'
  else
    data = '{"ids":["sku-' .. random(5000) .. '"],"store":"' .. session.store .. '"}'
  end
  return '{"key":"' .. key .. '","name":"' .. name .. '","url":"https://shop.example/p/' .. random(5000) .. '?utm_source=s' .. random(8)
    .. '","tmpId":"' .. session.tmp .. (client and '","clientId":"' .. client or "") .. '","data":' .. data
    .. ',"eventId":"' .. id .. '","v":1,"timestamp":' .. format("%d", session.time) .. '}'
end

local event = write_key and segment_call or days > 0 and shop_event or plain_event

function init()
  started = os.time() * 1000
  now = format("%d", started)
  iso = os.date("!%Y-%m-%dT%H:%M:%S.000Z")
  math.randomseed(tonumber(run, 16) or 1)
end

function request()
  local body
  if batch == 1 and not write_key then
    body = event()
  else
    local parts = {}
    for i = 1, batch do parts[i] = event() end
    body = "[" .. table.concat(parts, ",") .. "]"
    if write_key then body = '{"writeKey":"' .. write_key .. '","batch":' .. body .. '}' end
  end
  return "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nUser-Agent: okhttp/4.12\r\nContent-Length: "
    .. #body .. "\r\n\r\n" .. body
end
