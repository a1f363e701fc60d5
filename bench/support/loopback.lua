-- What the senders of the benchmarks share: clocks, sockets to this machine, waiting for answers. Run by luajit,
-- because sender and service share the machine's cores: a request costs it a quarter of what it costs one on Node.
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
int close(int fd);
int epoll_create1(int flags);
int epoll_ctl(int epoll, int operation, int fd, happening *event);
int epoll_wait(int epoll, happening *events, int room, int milliseconds);
]]
local C = ffi.C
local monotonic, realtime = 1, 0
local inet, stream, tcp, no_delay, set_flags, non_blocking = 2, 1, 6, 1, 4, 2048
local add, readable, try_again = 1, 1, 11

local moment = ffi.new("moment")
local function clock(which)
  C.clock_gettime(which, moment)
  return tonumber(moment.seconds) * 1000 + tonumber(moment.nanoseconds) / 1e6
end

local function check(result, what)
  if result < 0 then error(what .. " failed with error " .. ffi.errno()) end
  return result
end

local loopback = {}

-- Milliseconds, of a clock that only moves on.
function loopback.now() return clock(monotonic) end

-- Milliseconds since 1970.
function loopback.today() return clock(realtime) end

-- Connections to one port, known by numbers of the caller's choice.
function loopback.connections(port, most)
  local epoll = check(C.epoll_create1(0), "epoll_create1")
  local events = ffi.new("happening[?]", most)
  local room = 65536
  local bytes = ffi.new("char[?]", room)
  local sockets = {}
  local address = ffi.new("internet_address", { family = inet, port = bit.rshift(bit.bswap(port), 16), address = 0x0100007f })
  local here = {}

  function here.open(index)
    local fd = check(C.socket(inet, stream, 0), "socket")
    check(C.connect(fd, address, ffi.sizeof(address)), "connect")
    check(C.setsockopt(fd, tcp, no_delay, ffi.new("int[1]", 1), 4), "setsockopt")
    check(C.fcntl(fd, set_flags, non_blocking), "fcntl")
    check(C.epoll_ctl(epoll, add, fd, ffi.new("happening", { events = readable, index = index })), "epoll_ctl")
    sockets[index] = fd
  end

  function here.close(index)
    check(C.close(sockets[index]), "close")
    sockets[index] = nil
  end

  function here.send(index, text)
    if C.write(sockets[index], text, #text) ~= #text then error("a request was not taken whole") end
  end

  -- Waits at most so many milliseconds and calls receive(index, text) for what has come.
  function here.wait(milliseconds, receive)
    local count = C.epoll_wait(epoll, events, most, milliseconds)
    for i = 0, count - 1 do
      local index = events[i].index
      local length = tonumber(C.read(sockets[index], bytes, room))
      if length > 0 then
        local text = ffi.string(bytes, length)
        -- The rest of an answer that came in two pieces says nothing new.
        if text:sub(1, 5) == "HTTP/" then receive(index, text) end
      elseif length == 0 or ffi.errno() ~= try_again then
        error("a connection was closed")
      end
    end
  end

  return here
end

return loopback
