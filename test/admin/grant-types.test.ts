import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findGrantType, type OpeningGrantType } from '../../src/clients/grant-type.ts'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { DEVICE_CODE, JWT_BEARER } from '../../src/protocol/token/grant-types.ts'
import { obtainTokens, registerClient } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'

const [WEB, LOCAL] = ['https://app.example/cb', 'http://127.0.0.1/cb']
const CODE = 'authorization_code'

test('the grant type of a grant follows from its provider and redirect host, and else from the client, if that says it', () => {
  const cases: readonly (readonly [
    host: string | undefined,
    client: readonly [types: readonly string[], uris: readonly string[]] | undefined,
    type: OpeningGrantType | undefined,
  ])[] = [
    ['app.example', [[CODE, DEVICE_CODE], [WEB]], CODE],
    ['app.example', undefined, CODE],
    [undefined, [[DEVICE_CODE], []], DEVICE_CODE],
    [undefined, [[CODE, DEVICE_CODE], [WEB]], DEVICE_CODE],
    [undefined, [[CODE], [WEB]], DEVICE_CODE],
    [undefined, [[CODE], [LOCAL, WEB]], CODE],
    [undefined, [[CODE, DEVICE_CODE], [LOCAL]], undefined],
    [undefined, undefined, undefined],
  ]
  for (const [redirectHost, client, type] of cases) {
    const [grantTypes, redirectUris] = client ?? []
    const record =
      client && ({ metadata: { grant_types: grantTypes, redirect_uris: redirectUris } } as unknown as ClientRecord)
    assert.equal(
      findGrantType({ redirectHost, providerId: undefined }, record),
      type,
      JSON.stringify([redirectHost, client]),
    )
    assert.equal(findGrantType({ redirectHost, providerId: 'idp' as ProviderId }, record), JWT_BEARER)
  }
})

test('grant.list, grant.show and grant.revoke name the grant type', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  await obtainTokens(server, await registerClient(server))
  const { grants } = await perform<{ grants: { grant_id: string; grant_type: string }[] }>(
    server.context,
    'grant.list',
    {},
  )
  const [grant, ...others] = grants
  assert.deepEqual([grant?.grant_type, others], [CODE, []])
  for (const name of ['grant.show', 'grant.revoke'])
    assert.equal((await perform(server.context, name, { grant_id: grant?.grant_id }))['grant_type'], CODE)
})
