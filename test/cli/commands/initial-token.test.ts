import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { InitialTokenDocument } from '../../../src/admin/client/initial-token.ts'
import { postJson } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import { temporaryFolder } from '../../support/server.ts'
import { said } from '../../support/tasks.ts'

const server = await openServerForCommands(WHOLE_FILE)
const folder = temporaryFolder(WHOLE_FILE)

type Created = InitialTokenDocument & { readonly initial_access_token: string }

function template(content: unknown): string {
  const path = join(folder, 'template.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function create(...options: readonly string[]): Promise<Created> {
  return commandJson<Created>(['initial-token', 'create', '--name', 'CI', ...options])
}

async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(['initial-token', ...typed])
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

test('initial-token: a token is created, used, listed with the uses that are left, and revoked', async () => {
  assert.match(await words('list'), /^There are no initial access tokens\. Create one: grantor initial-token create/)
  const made = await words('create', '--name', 'Robots', '--uses', '2', '--days', '7')
  const [, token = ''] = /^ {2}(git_\S+)$/m.exec(made) ?? []
  assert.match(made, new RegExp(`^${said('initial-token.create', { uses: '2', expires_at: '\\S+ \\S+ UTC' })}`))
  const inject: typeof server.inject = (request) =>
    server.inject({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
  const answer = await postJson({ inject }, '/v2/oauth/register', { grant_types: ['client_credentials'] })
  assert.equal(answer.statusCode, 201, answer.body)
  const [, id = ''] = /grantor initial-token revoke (\S+)/.exec(made) ?? []
  assert.match(await words('list'), new RegExp(`^${id} +Robots +1 of 2 +unverified +\\S+ \\S+ +–$`, 'm'))
  assert.match(await words('revoke', id), new RegExp(`^${said('initial-token.revoke')}\n$`))
  assert.equal((await postJson({ inject }, '/v2/oauth/register', {})).statusCode, 401)
})

test('initial-token create: clients follow the template; without one they are as after an open registration', async () => {
  const content = {
    trust_level: 'verified',
    scope: 'read write',
    redirect_hosts: ['App.example', '*.acme.example', 'localhost', '[::1]'],
    unused: 'sweep',
  }
  const { template: stored, uses, initial_access_token: token } = await create('--template', template(content))
  assert.deepEqual(stored, { ...content, redirect_hosts: ['app.example', '*.acme.example', 'localhost', '[::1]'] })
  assert.equal(uses, 1)
  assert.match(token, /^git_/)
  const usual = await create()
  assert.deepEqual(usual.template, { trust_level: 'unverified', scope: null, redirect_hosts: null, unused: 'keep' })
  assert.equal(Date.parse(usual.expires_at) - Date.parse(usual.created_at), 30 * 86_400_000)
})

const VERIFIED = { trust_level: 'verified' }

for (const [options, content, code, message] of [
  [['--uses', '101'], VERIFIED, 1, /A token that makes verified clients has at most 100 uses and 30 days/],
  [['--days', '31'], VERIFIED, 1, /A token that makes verified clients has at most 100 uses and 30 days/],
  [['--uses', '10001'], {}, 1, /--uses/],
  [['--uses', '0'], {}, 1, /--uses/],
  [['--days', '366'], {}, 1, /--days/],
  [[], { redirect_hosts: ['co.uk'] }, 1, /"co\.uk" is not a host for redirect URIs/],
  [[], { redirect_hosts: ['https://a.example/cb'] }, 1, /is not a host for redirect URIs/],
  [[], { redirect_hosts: [] }, 1, /redirect_hosts/],
  [[], { approved_scope: 'admin' }, 1, /approved_scope/],
  [[], { organization_id: 'gor_1' }, 1, /organization_id/],
  [[], { trust_level: 'known-domain' }, 1, /trust_level/],
  [[], '{', 2, /template\.json is not JSON\.$/m],
] as const) {
  test(`IAT-04: initial-token create ${options.join(' ')} with ${JSON.stringify(content)} fails and says why`, async () => {
    const result = await command([
      'initial-token',
      'create',
      '--name',
      'CI',
      ...options,
      '--template',
      template(content),
    ])
    assert.equal(result.code, code, result.stderr)
    assert.match(result.stderr, message)
  })
}

test('IAT-04: the most that a token for verified clients may have is accepted', async () => {
  const made = await create('--uses', '100', '--days', '30', '--template', template(VERIFIED))
  assert.deepEqual([made.uses, made.template.trust_level], [100, 'verified'])
})

test('initial-token: an unknown id is refused', async () => {
  const result = await command(['initial-token', 'revoke', '0'.repeat(34)])
  assert.match(result.stderr, /There is no initial access token 0+\. See "grantor initial-token list"/)
})
