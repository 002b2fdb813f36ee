import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertionClaims, assertionForm, makeClientKey, signJws } from '../../tools/client-assertion.ts'
import { makeProof } from '../../tools/dpop-proof.ts'
import {
  PlainBrowser,
  postForm as inject,
  pushedUrl,
  REDIRECT_URI,
  signInAndAllow,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openAgent, postForm, type WireAnswer } from '../support/hosts/http-agent.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { perform } from '../support/tasks.ts'
import { startChildServer } from './child-server.ts'

const ROUNDS = 2
const WORKERS = 6
/** Answers in each round before the kill. */
const ANSWERS = 40

test('FP-03: a client of the profile keeps its refresh token when the server is killed between and during its refreshes', async (t) => {
  const folder = temporaryFolder(t)
  const key = makeClientKey('ES256')
  const server = await openTestServer(t, { folder })
  await createAda(server)
  const client = await perform<RegisteredClient>(server.context, 'client.create', {
    client_name: 'Bank',
    redirect_uris: [REDIRECT_URI],
    jwks: { keys: [key.jwk] },
    id_token_signed_response_alg: 'ES256',
  })
  await perform(server.context, 'client.set-rules', { client_id: client.client_id, consent: 'asked', profile: 'fapi2' })
  const authentication = (origin: string) =>
    assertionForm(signJws(key, { alg: key.algorithm }, assertionClaims(client.client_id, origin, Date.now())))
  const proof = (origin: string) => ({
    dpop: makeProof(key, { method: 'POST', address: `${origin}/v2/oauth/token`, nowMs: Date.now() }),
  })
  const { origin } = server
  const url = await pushedUrl(server, client, authentication(origin))
  const code = (await signInAndAllow(new PlainBrowser(server), url)).searchParams.get('code') ?? ''
  const redeemed = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  const form = { ...authentication(origin), ...redeemed }
  const tokens = (await inject(server, '/v2/oauth/token', form, proof(origin))).json<Tokens>()
  const refreshForm = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' }
  await server.close()

  const check = (status: number | undefined, body: string): void => {
    assert.equal(status, 200, body)
    const answer = JSON.parse(body) as Tokens & { readonly token_type: string }
    assert.deepEqual([answer.refresh_token, answer.token_type], [undefined, 'DPoP'])
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = await startChildServer(t, folder)
    const agent = openAgent(WORKERS)
    let answers = 0
    let killing: Promise<void> | undefined
    const work = async (): Promise<void> => {
      for (;;) {
        const sent = { ...authentication(child.origin), ...refreshForm }
        const answer: WireAnswer | undefined = await postForm(
          `${child.origin}/v2/oauth/token`,
          sent,
          agent,
          proof(child.origin),
        ).catch(() => undefined)
        if (answer === undefined) return
        check(answer.status, answer.body)
        answers += 1
        if (answers >= ANSWERS) killing ??= child.kill()
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    assert.ok(answers >= ANSWERS)
    await killing
    agent.destroy()
  }
  const after = await openTestServer(t, { folder })
  const last = { ...authentication(after.origin), ...refreshForm }
  const answer = await inject(after, '/v2/oauth/token', last, proof(after.origin))
  check(answer.statusCode, answer.body)
})
