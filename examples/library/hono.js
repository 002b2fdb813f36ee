// Grantor within a Hono application on Node.js: node hono.js
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { createGrantor } from 'grantor'

const { PORT = '3000', DATABASE_URL } = process.env
const grantor = await createGrantor({ issuer: `http://localhost:${PORT}/auth`, database: DATABASE_URL })

const app = new Hono()
app.use(async (c, next) => {
  if (!grantor.handles(c.req.path)) return next()
  return grantor.fetch(c.req.raw, { address: getConnInfo(c).remote.address })
})
app.get('/', (c) => c.text('The application.\n'))

const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' })
process.once('SIGTERM', () => server.close(() => grantor.close()))
