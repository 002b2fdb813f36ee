// Grantor within a Fastify application, before its body parsers: node fastify.js
import Fastify from 'fastify'
import { createGrantor } from 'grantor'

const { PORT = '3000', DATABASE_URL } = process.env
const grantor = await createGrantor({ issuer: `http://localhost:${PORT}/auth`, database: DATABASE_URL })

const app = Fastify()
app.addHook('onRequest', (request, reply, done) => {
  if (!grantor.handles(request.raw.url)) return done()
  reply.hijack()
  grantor.handler(request.raw, reply.raw)
})
app.get('/', () => 'The application.\n')
app.addHook('onClose', () => grantor.close())

await app.listen({ port: Number(PORT), host: 'localhost' })
process.once('SIGTERM', () => app.close())
