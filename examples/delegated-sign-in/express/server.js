import { createHmac, randomBytes } from 'node:crypto'
import express from 'express'

// Signs users in for Grantor. Replace `userOf` by the users and sessions of your application.
const { DELEGATE_ADMIN_URL, DELEGATE_TOKEN, SAMPLE_PORT = '4000', ADA_PASSWORD } = process.env
const csrfKey = randomBytes(32)

function userOf({ headers }) {
  const [name, password] = atob(/^Basic (.+)$/.exec(headers.authorization)?.[1] ?? '').split(':')
  if (name !== 'ada' || !ADA_PASSWORD || password !== ADA_PASSWORD) return undefined
  return { subject: 'u_4711', name: 'Ada Lovelace', email: 'ada@acme.test', email_verified: true }
}

async function ask(interaction, action = '', body) {
  const url = `${DELEGATE_ADMIN_URL}/admin/v1/interactions/${encodeURIComponent(interaction)}${action}`
  const headers = { authorization: `Bearer ${DELEGATE_TOKEN}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: body ? 'POST' : 'GET', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`Grantor answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

const csrfOf = ({ subject }, interaction) =>
  createHmac('sha256', csrfKey).update(`${subject} ${interaction}`).digest('hex')
const text = (value) => String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

function describe({ client, scopes }) {
  if (client === null) return ['Open your account pages.']
  const { kind, host, scheme } = client.destination
  const places = { host, 'this-computer': 'a program on this computer', app: `the app that opens ${scheme} links` }
  return [
    `${client.client_name ?? 'An app without a name'} wants to use your account.`,
    client.trust_level === 'unverified' ? 'Unverified: Acme has not checked who this app is.' : 'Known to Acme.',
    ...scopes.map(({ name, sentences }) => sentences[0] ?? name),
    `Afterwards you are sent to ${places[kind]}.`,
  ]
}

const app = express()
app.use('/oauth/consent', express.urlencoded(), (request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'" })
  response.locals.user = userOf(request)
  return response.locals.user ? next() : response.set('WWW-Authenticate', 'Basic realm="Acme"').sendStatus(401)
})
app.get('/oauth/consent', async ({ query: { interaction } }, response) => {
  const { user } = response.locals
  const lines = describe(await ask(interaction)).map((line) => `<p>${text(line)}</p>`)
  response.send(`<!doctype html><title>Acme</title><h1>Signed in as ${text(user.name)}</h1>${lines.join('')}
    <form method="post"><input type="hidden" name="interaction" value="${text(interaction)}">
    <input type="hidden" name="csrf" value="${csrfOf(user, interaction)}">
    <button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>`)
})
app.post('/oauth/consent', async ({ body: { interaction, csrf, decision } }, response) => {
  const { user } = response.locals
  if (csrf !== csrfOf(user, interaction)) return response.sendStatus(403)
  const isAllowed = decision === 'allow'
  const answer = await ask(interaction, isAllowed ? '/accept' : '/reject', isAllowed ? { ...user, decision } : {})
  return response.redirect(303, answer.redirect_to)
})
app.listen(Number(SAMPLE_PORT), 'localhost')
