// Grantor within a server of node:http: node node-http.js
import { createServer } from 'node:http'
import { createGrantor } from 'grantor'

const { PORT = '3000', DATABASE_URL, TRUST_PROXY } = process.env
const grantor = await createGrantor({
  issuer: `http://localhost:${PORT}/auth`,
  database: DATABASE_URL,
  trustProxy: TRUST_PROXY?.split(','),
})

const server = createServer((request, response) =>
  grantor.handler(request, response, () => response.end('The application.\n')),
)
server.listen(Number(PORT), 'localhost')

process.once('SIGTERM', () => server.close(() => grantor.close()))
