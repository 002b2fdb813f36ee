import assert from 'node:assert/strict'
import { test } from 'node:test'
import { obtainCode, obtainTokens, redeem, refresh, registerClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'

/** What the request presents, and the reason of the refusal. */
async function invalidGrants(server: TestServer): Promise<readonly (readonly [reason: string, description: string])[]> {
  await createAda(server)
  const client = await registerClient(server)
  const other = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, other)
  const answers = [
    await redeem(server, client, 'gac_made-up'),
    await redeem(server, other, code),
    await redeem(server, client, code, { redirect_uri: 'https://else.test' }),
    await redeem(server, client, code, { code_verifier: 'w'.repeat(43) }),
    await redeem(server, client, code),
    await refresh(server, client, 'grt_made-up'),
    await refresh(server, client, refresh_token),
  ]
  const refused = server
    .log()
    .split('\n')
    .filter((line) => line.includes('"event":"request.refused"'))
  return answers.map((answer, index) => {
    const { reason } = JSON.parse(refused.at(index - answers.length) ?? '') as { readonly reason: string }
    return [reason, assertError(answer, 400, 'invalid_grant').error_description]
  })
}

test('invalid_grant has one description for all codes and one for all refresh tokens; a loopback issuer adds the reason', async (t) => {
  const https = { GRANTOR_ISSUER: 'https://auth.acme.test', GRANTOR_TRUST_PROXY: '127.0.0.1/32' }
  const [local, remote] = [await openTestServer(t), await openTestServer(t, { env: https })]
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
  const proxied: TestServer = {
    ...remote,
    inject: (request) => remote.inject({ ...request, headers: { ...headers, ...request.headers } }),
  }
  const [explained, plain] = [await invalidGrants(local), await invalidGrants(proxied)]
  assert.deepEqual(
    explained.map(([reason]) => reason),
    [
      'code_unknown',
      'code_of_another_client',
      'redirect_uri_mismatch',
      'verifier_wrong',
      'code_unknown',
      'refresh_unknown',
      'refresh_of_another_client',
    ],
  )
  assert.equal(new Set(plain.map(([, description]) => description)).size, 2)
  for (const [index, [reason, description]] of explained.entries()) {
    assert.equal(description, `${plain[index]?.[1]} Reason: ${reason}.`)
    assert.match(
      plain[index]?.[1] ?? '',
      reason.startsWith('refresh') ? /^The refresh token/ : /^The authorization code/,
    )
  }
})
