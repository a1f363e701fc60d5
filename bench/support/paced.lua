-- Sends single events at a fixed rate, whatever the answers take: an open loop. A latency counts from the moment at
-- which a request was due, so that waiting for a slow server is not left out. Run by luajit, because sender and
-- service share the machine's cores: a request costs it a quarter of what it costs a sender on Node.
-- Arguments: port, path, company, events per second, seconds, connections.
-- Prints one line of JSON: {sent, ok, failed, p50, p99, longest} in milliseconds.
local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } moment;
typedef struct { uint16_t family; uint16_t port; uint32_t address; char zero[8]; } internet_address;
typedef struct { uint32_t events; uint32_t index; uint32_t unused; } __attribute__((packed)) happening;
int clock_gettime(int clock, moment *time);
int socket(int domain, int type, int protocol);
int connect(int fd, const internet_address *address, uint32_t length);
int setsockopt(int fd, int level, int name, const int *value, uint32_t length);
int fcntl(int fd, int command, int value);
long write(int fd, const char *bytes, size_t length);
long read(int fd, char *bytes, size_t length);
int epoll_create1(int flags);
int epoll_ctl(int epoll, int operation, int fd, happening *event);
int epoll_wait(int epoll, happening *events, int room, int milliseconds);
]]
local C = ffi.C
local monotonic, realtime = 1, 0
local inet, stream, tcp, no_delay, set_flags, non_blocking = 2, 1, 6, 1, 4, 2048
local add, readable, try_again = 1, 1, 11

local port, path, key = tonumber(arg[1]), arg[2], arg[3]
local rate, seconds, connections = tonumber(arg[4]), tonumber(arg[5]), tonumber(arg[6])

local moment = ffi.new("moment")
local function clock(which)
  C.clock_gettime(which, moment)
  return tonumber(moment.seconds) * 1000 + tonumber(moment.nanoseconds) / 1e6
end

math.randomseed(clock(realtime))
local run = string.format("%08x", math.random(0, 0x7fffffff))
local counter = 0
local head = "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nUser-Agent: okhttp/4.12\r\nContent-Length: "
local before = '{"key":"' .. key .. '","name":"product_page","url":"https://shop.example/products/85123A?utm_source=news","tmpId":"c'
local between = '","data":{"ids":["85123A","71053"],"store":"north"},"eventId":"' .. run .. "-0000-4000-8000-"
local after = '","v":1,"timestamp":' .. string.format("%d", clock(realtime)) .. "}"

local function request()
  counter = counter + 1
  local body = before .. string.format("%024d", counter % 50000) .. between .. string.format("%012x", counter) .. after
  return head .. #body .. "\r\n\r\n" .. body
end

local function check(result, what)
  if result < 0 then error(what .. " failed with error " .. ffi.errno()) end
  return result
end

local epoll = check(C.epoll_create1(0), "epoll_create1")
local sockets, due_of, free = {}, {}, {}
local address = ffi.new("internet_address", { family = inet, port = bit.rshift(bit.bswap(port), 16), address = 0x0100007f })
for index = 1, connections do
  local fd = check(C.socket(inet, stream, 0), "socket")
  check(C.connect(fd, address, ffi.sizeof(address)), "connect")
  check(C.setsockopt(fd, tcp, no_delay, ffi.new("int[1]", 1), 4), "setsockopt")
  check(C.fcntl(fd, set_flags, non_blocking), "fcntl")
  check(C.epoll_ctl(epoll, add, fd, ffi.new("happening", { events = readable, index = index })), "epoll_ctl")
  sockets[index] = fd
  free[index] = index
end

-- Requests by their latency in steps of 0.05 ms.
local histogram, longest = {}, 0
local sent, ok, failed, under_way = 0, 0, 0, 0
-- Requests that found no free connection, by the number of the next one.
local waiting_from, issued = 0, 0
local started = clock(monotonic)
local function due_at(number) return started + number * 1000 / rate end

local function send(index, due)
  local text = request()
  due_of[index] = due
  if C.write(sockets[index], text, #text) ~= #text then error("a request was not taken whole") end
  sent, under_way = sent + 1, under_way + 1
end

local room = 65536
local bytes = ffi.new("char[?]", room)
local function receive(index)
  local length = tonumber(C.read(sockets[index], bytes, room))
  if length < 0 and ffi.errno() == try_again then return end
  if length <= 0 then error("a connection was closed") end
  -- The rest of an answer that came in two pieces says nothing new.
  if ffi.string(bytes, math.min(length, 5)) ~= "HTTP/" then return end
  if ffi.string(bytes, math.min(length, 12)) == "HTTP/1.1 200" then ok = ok + 1 else failed = failed + 1 end
  local step = math.max(0, math.floor((clock(monotonic) - due_of[index]) * 20))
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

local events = ffi.new("happening[?]", connections)
local all = math.floor(seconds * rate)
local patience = started + seconds * 1000 + 10000
while (issued < all or under_way > 0) and clock(monotonic) < patience do
  local now = clock(monotonic)
  while issued < all and due_at(issued) <= now do
    issued = issued + 1
    if waiting_from == issued - 1 and #free > 0 then
      waiting_from = issued
      -- In turn, so that no connection is so long silent that the service closes it.
      send(table.remove(free, 1), due_at(issued - 1))
    end
  end
  local count = C.epoll_wait(epoll, events, connections, 1)
  for i = 0, count - 1 do receive(events[i].index) end
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
