import { createServer } from 'node:http'

// The limit everything is compared with: read the body, answer 200 with nothing in it.
const server = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () => {
    response.writeHead(200, { 'content-length': '0' })
    response.end()
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(address.port)
})
process.on('SIGTERM', () => process.exit(0))
