-- Displays of one address by many persons, one request after the other; wrk calls request() for every one.
-- Environment: BENCH_PATH (of the address), BENCH_CITIES (values of the parameter city).
local path = os.getenv("BENCH_PATH") or "/"
local cities = tonumber(os.getenv("BENCH_CITIES") or "100")
local counter = 0
local headers = {
  ["User-Agent"] = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15",
}

function request()
  counter = counter + 1
  local query = string.format("?trk-u=person-%d&trk-l=en_GB&trk-m=spring&utm_source=mail&city=city-%d", counter % 50000, counter % cities)
  return wrk.format("GET", path .. query, headers)
end
