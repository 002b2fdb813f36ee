// Grantor within an Express application, before every body parser: node express.js
import express from 'express'
import { createGrantor, TokenRefused } from 'grantor'

const { PORT = '3000', DATABASE_URL } = process.env
const resource = `http://localhost:${PORT}/notes`
const grantor = await createGrantor({ issuer: `http://localhost:${PORT}/auth`, database: DATABASE_URL })

const app = express()
app.use(grantor.handler)
app.use(express.json())
app.get('/', (request, response) => response.send('The application.\n'))
app.get('/notes', async (request, response) => {
  const [, token = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
  const claims = await grantor.verify(token, { resource, scope: 'notes:read' })
  response.json({ notes: [`A note of ${claims.sub}`] })
})
app.use((cause, request, response, next) => {
  if (!(cause instanceof TokenRefused)) return next(cause)
  response.set('WWW-Authenticate', `Bearer error="${cause.code}"`).sendStatus(cause.status)
})

const server = app.listen(Number(PORT), 'localhost')
process.once('SIGTERM', () => server.close(() => grantor.close()))
