import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminError } from '../../src/admin/admin-error.ts'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import {
  algorithmNotice,
  type ApiChange,
  createApi,
  createApiCredentials,
  requireApi,
  updateApi,
} from '../../src/admin/api/api.ts'
import type { ApiTokens } from '../../src/ports/records/api.ts'
import { assertStoreUnchanged } from '../support/store/dump.ts'
import { openTestServer } from '../support/server.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { anApiDeclaration } from '../support/records.ts'
import { perform } from '../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE)
const { context } = server
let declared = 0

async function anApi(tokens: Partial<ApiTokens> = {}) {
  declared += 1
  const resource = `https://api-${declared}.example`
  const scopes = [{ name: 'read', sentence: 'Read', grantedTo: 'users' } as const]
  return createApi(
    context,
    anApiDeclaration(resource, { name: 'Notes', scopes, tokens: { ...SERVER_TOKENS, ...tokens } }),
  )
}

/** As an operator does who has just looked at it. */
async function change(resource: string, input: ApiChange) {
  return updateApi(context, await requireApi(context, resource), input)
}

const REFUSED: readonly (readonly [tokens: object, why: RegExp])[] = [
  [{ lifetime: 0 }, /must be at least 1\./],
  [{ lifetime: 86_401 }, /must be at most 86400\./],
  [{ lifetime: 1.5 }, /must be a whole number/],
  [{ lifetime: '60' }, /must be a number/],
  [{ format: 'opaque', algorithm: 'RS256' }, /not signed/],
  [{ format: 'opaque', jwt_type: 'JWT' }, /not JWTs/],
]

for (const [tokens, why] of REFUSED) {
  test(`an API that wants tokens such as ${JSON.stringify(tokens)} is refused when it is declared or changed`, async () => {
    const { resource } = await anApi()
    await assertStoreUnchanged(server, async () => {
      await assert.rejects(perform(context, 'api.create', { resource: `${resource}/new`, tokens }), why)
      await assert.rejects(perform(context, 'api.update', { resource, tokens }), why)
    })
  })
}

test('INT-04: the issuer cannot be declared as an API, because it is the audience of tokens without a resource', async () => {
  await assertStoreUnchanged(server, () =>
    assert.rejects(
      createApi(context, anApiDeclaration(server.origin)),
      (cause) => cause instanceof AdminError && /needs another identifier/.test(cause.message),
    ),
  )
  assert.equal((await createApi(context, anApiDeclaration(`${server.origin}/mcp`))).credentials, undefined)
})

test('a change of an API leaves its other members and its credentials unchanged', async () => {
  const { resource } = await anApi({ lifetime: 60 })
  const { id } = await createApiCredentials(context, resource)
  const before = await requireApi(context, resource)
  assert.deepEqual(await change(`${resource}/`, {}), before)
  assert.deepEqual(await requireApi(context, resource), before)
  await change(resource, { tokens: { ...SERVER_TOKENS, format: 'opaque' } })
  await change(resource, { name: '' })
  await change(resource, { scopes: [] })
  const after = await requireApi(context, resource)
  assert.deepEqual(after, {
    ...before,
    name: undefined,
    scopes: [],
    tokens: { ...SERVER_TOKENS, format: 'opaque' },
  })
  assert.equal(after.credentials?.id, id)
})

test('declaring another algorithm gives a notice with the algorithm that signs during the first ten minutes', async () => {
  const noticeOf = async (tokens: Partial<ApiTokens>) => algorithmNotice(context, await anApi(tokens))
  assert.match((await noticeOf({ algorithm: 'RS256' })) ?? '', /RS256 key.*ten minutes.*ES256/)
  assert.equal(await noticeOf({ algorithm: 'ES256' }), undefined)
  assert.equal(await noticeOf({}), undefined)
})
