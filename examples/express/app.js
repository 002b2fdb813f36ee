import { randomBytes } from 'node:crypto'
import express from 'express'
import * as openid from 'openid-client'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, ORIGIN } = process.env
const REDIRECT_URI = `${ORIGIN}/callback`
const isLocal = new URL(ISSUER).protocol === 'http:'
const grantor = await openid.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  {},
  openid.ClientSecretBasic(CLIENT_SECRET),
  isLocal ? { execute: [openid.allowInsecureRequests] } : {},
)

/** By the value of the cookie. In production: a store that all processes share, and an end. */
const sessions = new Map()
const text = (value) => String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

export const app = express()
app.use((request, response, next) => {
  let [, id] = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '') ?? []
  if (!sessions.has(id)) {
    id = randomBytes(32).toString('base64url')
    sessions.set(id, {})
    response.cookie('session', id, { httpOnly: true, sameSite: 'lax', secure: !isLocal })
  }
  request.session = sessions.get(id)
  /** A signed-in session gets another cookie, so that one that was known before is worth nothing. */
  request.replaceSession = (session) => {
    sessions.delete(id)
    if (session === undefined) return response.clearCookie('session')
    const another = randomBytes(32).toString('base64url')
    sessions.set(another, session)
    return response.cookie('session', another, { httpOnly: true, sameSite: 'lax', secure: !isLocal })
  }
  next()
})

app.get('/', ({ session: { user } }, response) => {
  if (user === undefined)
    return response.send('<!doctype html><title>Board</title><p><a href="/sign-in">Sign in</a></p>')
  return response.send(`<!doctype html><title>Board</title>
    <p>${text(user.name)}, for ${text(user.org_name ?? 'no organization')}</p>
    <p><a href="/change-organization">Change the organization</a></p>
    <form method="post" action="/sign-out"><button>Sign out</button></form>`)
})

app.get('/sign-in', (request, response) => authorize(request, response, {}))
// Grantor asks the user for the organization on the consent page. To choose one here, send its id: { org_id: 'gor_…' }
app.get('/change-organization', (request, response) => authorize(request, response, { prompt: 'consent' }))

async function authorize(request, response, parameters) {
  const [verifier, state, nonce] = [openid.randomPKCECodeVerifier(), openid.randomState(), openid.randomNonce()]
  request.session.pending = { verifier, state, nonce }
  const address = openid.buildAuthorizationUrl(grantor, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile email',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...parameters,
  })
  response.redirect(address.href)
}

app.get('/callback', async (request, response) => {
  const { pending } = request.session
  if (pending === undefined) return response.redirect('/')
  delete request.session.pending
  // The user declined: the session stays as it was.
  if (request.query.error === 'access_denied') return response.redirect('/')
  const tokens = await openid.authorizationCodeGrant(grantor, new URL(request.originalUrl, ORIGIN), {
    pkceCodeVerifier: pending.verifier,
    expectedState: pending.state,
    expectedNonce: pending.nonce,
  })
  request.replaceSession({ user: tokens.claims(), idToken: tokens.id_token })
  return response.redirect('/')
})

app.post('/sign-out', (request, response) => {
  const { idToken } = request.session
  request.replaceSession(undefined)
  if (idToken === undefined) return response.redirect(303, '/')
  const parameters = { id_token_hint: idToken, post_logout_redirect_uri: `${ORIGIN}/` }
  return response.redirect(303, openid.buildEndSessionUrl(grantor, parameters).href)
})

// start.js listens itself.
if (process.argv[1] === import.meta.filename) app.listen(Number(process.env.PORT ?? 8080))
