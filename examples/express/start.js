// Grantor with two organizations, and the application of app.js on a free port: npm start
import { freePort, listen, startGrantor } from '../start-grantor.js'

const { issuer, task, user } = await startGrantor()
const port = await freePort()
const origin = `http://localhost:${port}`
for (const name of ['Acme', 'Globex']) {
  const { organization_id: id } = await task('POST', 'organizations', { name })
  await task('POST', `organizations/${id}/members`, { user_id: user.userId })
}
const client = await task('POST', 'clients', {
  client_name: 'Board',
  redirect_uris: [`${origin}/callback`],
  post_logout_redirect_uris: [`${origin}/`],
})

Object.assign(process.env, {
  ISSUER: issuer,
  ORIGIN: origin,
  CLIENT_ID: client.client_id,
  CLIENT_SECRET: client.client_secret,
})
const { app } = await import('./app.js')
await listen(app, port)
console.log(`Open ${origin} and sign in as ${user.email} with the password ${user.password}`)
