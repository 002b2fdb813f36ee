import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdminCredential } from '../../src/admin/admin.ts'
import { MAXIMA } from '../../src/base/maxima.ts'
import type { ApiScope } from '../../src/ports/records/api.ts'
import { openFiles } from '../cli/apply/files.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { commandJson, openServerForCommands, command } from '../support/command.ts'
import { longestApi, scopesOf } from './longest.ts'

/** The longest API is declared by each way; the console: test/console/set-up.test.ts. */

const server = await openServerForCommands(WHOLE_FILE)
const { writeSet, applied } = openFiles(server)
const { token } = await createAdminCredential(server.context, {
  name: 'A',
  access: 'write',
  organizationId: undefined,
  days: 1,
})

const membersOf = ({ resource, scopes }: { readonly resource: string; readonly scopes: readonly ApiScope[] }) => ({
  resource,
  scopes: scopes.map(({ name, sentence, grantedTo }) => ({ name, sentence, granted_to: grantedTo, step_up: null })),
})

const WAYS = {
  'a command': (api) =>
    commandJson([
      'api',
      'create',
      '--resource',
      api.resource,
      ...api.scopes.flatMap(({ name, sentence }) => [
        '--machine-scope',
        `${name}=${typeof sentence === 'string' ? sentence : assert.fail()}`,
      ]),
    ]),
  'the HTTP API': async (api) => {
    const answer = await server.injectAdmin({
      method: 'POST',
      url: '/admin/v1/apis',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      payload: JSON.stringify(api),
    })
    assert.equal(answer.statusCode, 201, answer.body)
  },
  'grantor apply': (api) =>
    applied(
      writeSet(
        {
          apis: [
            { ...api, scopes: api.scopes.map(({ name, sentence, granted_to }) => ({ name, sentence, granted_to })) },
          ],
        },
        'longest',
      ),
    ),
} satisfies Record<string, (api: ReturnType<typeof membersOf>) => Promise<unknown>>

for (const [way, declare] of Object.entries(WAYS)) {
  test(`an API with the most and longest scopes is declared by ${way}`, async () => {
    const api = membersOf(longestApi(`${way.replaceAll(' ', '-').toLowerCase()}.example`))
    await declare(api)
    const shown = await commandJson<ReturnType<typeof membersOf>>(['api', 'show', api.resource])
    assert.deepEqual(shown.scopes, api.scopes)
  })
}

test('an API whose scopes are too many characters for a token, or one of them is, is refused', async () => {
  const create = (scopes: readonly ApiScope[]) =>
    command([
      'api',
      'create',
      '--resource',
      'https://refused.example',
      ...scopes.flatMap(({ name }) => ['--scope', `${name}=Do it`]),
    ])
  const long = await create(scopesOf('r', 70, () => 60))
  assert.match(long.stderr, /have 4294 characters together.*A token has room for 4096/s)
  const name = await create(scopesOf('r', 1, () => MAXIMA.scopeName.most + 1))
  assert.match(name.stderr, /name of a scope/)
  assert.notEqual(name.code, 0)
})
