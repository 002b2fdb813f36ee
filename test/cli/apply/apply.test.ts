import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isReading } from '../../../src/admin/task.ts'
import { requireTask } from '../../../src/admin/tasks.ts'
import type { AppliedSetDocument } from '../../../src/admin/apply.ts'
import { performOn, type PerformTask } from '../../../src/cli/lib/perform-task.ts'
import { readFiles } from '../../../src/cli/apply/document.ts'
import { makePlan } from '../../../src/cli/apply/plan.ts'
import { runPlan } from '../../../src/cli/apply/run.ts'
import { type Members } from '../../support/tasks.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { CLIENT_SECRET, openFiles, PROVIDER_SECRET, RECORDS } from './files.ts'

const server = await openServerForCommands(WHOLE_FILE)
const { apply, applied, write, writeSet } = openFiles(server)
const EVERYTHING = writeSet(RECORDS)
mkdirSync(join(server.folder, 'secrets'))
writeFileSync(join(server.folder, 'secrets', 'entra'), PROVIDER_SECRET, { mode: 0o600 })
const TERMINAL = { variable: (name: string) => (name === 'BOARD_SECRET' ? CLIENT_SECRET : undefined) }

/** Performs tasks on the store of the server, and keeps the names of those that may change something. */
function counting(): { readonly perform: PerformTask; readonly changing: string[] } {
  const changing: string[] = []
  const onStore = performOn(server.context)
  const perform: PerformTask = (name, input) => {
    if (!isReading(requireTask(name))) changing.push(name)
    return onStore(name, input)
  }
  return { perform, changing }
}

function events(): number {
  return selectAll(server, 'select * from audit_links').length
}

test('APL-02: a second run calls no task that changes something, writes no event, and changes no row; --plan changes nothing', async () => {
  const planned = await assertStoreUnchanged(server, () => apply(['-f', EVERYTHING, '--plan']))
  assert.deepEqual([planned.code, planned.stderr], [3, ''])
  const first = await applied(EVERYTHING)
  assert.match(
    first,
    /^\+ organization acme\n\+ group finance\n\+ group acme\/ops\n\+ api https:\/\/api\.acme\.test\n[^]*\n\+ client job\nMade 12 of 12 changes\.\n$/,
  )
  const { sets } = await performOn(server.context)<{ readonly sets: readonly AppliedSetDocument[] }>('apply.list', {})
  for (const { kind, created } of sets.flatMap(({ records }) => records))
    assert.equal(created === undefined, kind === 'domain', kind)
  const before = events()
  const second = await assertStoreUnchanged(server, () => applied(EVERYTHING))
  assert.match(second, /client_secret: compared when applied\nNothing differs from the set production\.\n$/)
  assert.equal(events(), before)
  const { perform, changing } = counting()
  const plan = await makePlan(await readFiles([EVERYTHING], TERMINAL, 'read'), perform, { prune: true })
  const { done, replaced } = await runPlan(plan, perform)
  assert.deepEqual([done, replaced, changing], [[], [], ['provider.update', 'client.set-secret']])
  assert.equal(events(), before)
  assert.equal((await apply(['-f', EVERYTHING, '--plan'])).code, 0)
  const [event] = (await commandJson<{ events: readonly Members[] }>(['audit', 'list', '--event', 'apply.finished']))
    .events
  assert.partialDeepStrictEqual(event, {
    actor: 'command-line',
    details: { set: 'production', created: 12, updated: 0, deleted: 0, complete: true },
  })
})

test('--print makes a file in which nothing differs, without secrets', async () => {
  const { stdout } = await apply(['--print'])
  for (const text of ['production:', CLIENT_SECRET, PROVIDER_SECRET, 'null']) assert.ok(!stdout.includes(text), text)
  const everything = write(stdout.replace('set: default', 'set: production'))
  const { code, stdout: plan } = await apply(['-f', everything, '--plan'])
  assert.deepEqual([code, plan.match(/^[+~=-].*/gm)], [0, null], plan)
  assert.doesNotMatch(stdout, /routing|auth_method: client_secret_post|grant_types|Administration/)
  const { stdout: own } = await apply(['--print', '--set', 'production', '--json'])
  assert.equal((JSON.parse(own) as typeof RECORDS).clients.length, 3)
  const { stdout: none } = await apply(['--print', '--set', 'other'])
  assert.equal(none, 'version: 1\nset: other\n')
})

test('a change by hand is drift: --plan names it with exit code 3, and a run takes it back', async () => {
  await command(['client', 'update', 'board', '--redirect-uri', 'https://elsewhere.acme.test/callback'])
  await command(['org', 'rename', 'acme', 'Apex'])
  await command(['provider', 'update', 'entra', '--multi-factor', '--organization', 'acme'])
  const { code, stdout } = await apply(['-f', EVERYTHING, '--plan'])
  assert.equal(code, 3)
  assert.match(stdout, /^~ organization acme\n {4}name: "Apex" → "Acme"\n/)
  assert.match(stdout, /~ provider entra\n {4}multi_factor: true → false\n/)
  assert.match(
    stdout,
    /~ client board\n {4}redirect_uris: \["https:\/\/elsewhere\S+\] → \["https:\/\/board\S+\]\n {4}Users are asked for consent again\.\n {4}Its tokens stay valid\./,
  )
  const json = await apply(['-f', EVERYTHING, '--plan', '--json'])
  assert.equal(json.code, 3)
  assert.partialDeepStrictEqual(JSON.parse(json.stdout), {
    set: 'production',
    changes: [
      {
        change: 'update',
        kind: 'organization',
        key: 'acme',
        differences: [{ member: 'name', before: 'Apex', after: 'Acme' }],
      },
      { kind: 'provider' },
      { kind: 'client' },
    ],
    compared_secrets: [],
    uncompared_secrets: [
      { kind: 'provider', key: 'entra' },
      { kind: 'client', key: 'board' },
    ],
  })
  await applied(EVERYTHING)
  assert.equal((await apply(['-f', EVERYTHING, '--plan'])).code, 0)
})

test('--print names another variable for each secret', async () => {
  const clients = ['a-b', 'a_b', 'entra', 'entra-2'].map((client_id) => ({
    client_id,
    client_name: 'App',
    redirect_uris: ['https://app.example/'],
  }))
  const path = writeSet({ clients }, 'variables')
  await applied(path)
  const printed = JSON.parse((await apply(['--print', '--json'])).stdout) as Readonly<
    Record<string, readonly Members[]>
  >
  const names = [...(printed['providers'] ?? []), ...(printed['clients'] ?? [])]
    .map(({ client_secret: secret }) => (secret as { readonly env?: string } | undefined)?.env)
    .filter((name) => name !== undefined)
  assert.ok(names.includes('ENTRA_SECRET'))
  assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted())
  await applied(writeSet({}, 'variables'), '--prune')
  await command(['apply', '--release', 'variables'])
})

test('a record of a file is described completely: what the file leaves out gets its default', async () => {
  const { redirect_uris: uris, client_secret: secret, client_name: name } = RECORDS.clients[0]
  const [entra] = RECORDS.providers
  const least = {
    ...RECORDS,
    apis: RECORDS.apis.map(({ resource }) => ({ resource })),
    domains: { trusted: ['bad.example'], blocked: ['worse.example'] },
    providers: [{ ...entra, organization_id: undefined, sign_up: undefined, domains: undefined, template: 'entra' }],
    clients: [
      {
        client_id: 'board',
        client_name: name,
        redirect_uris: [...uris].toReversed(),
        client_secret: secret,
        rules: { profile: 'standard' },
      },
      { ...RECORDS.clients[1], dpop_bound_access_tokens: undefined },
      { client_id: 'job', client_name: 'Job', jwks_uri: 'https://job.acme.test/jwks.json' },
    ],
  }
  const path = writeSet(least)
  const said = await applied(path)
  assert.match(
    said,
    /No more tokens get the scope projects:read, projects:write\.\n {4}Issued tokens stay valid, as they are\./,
  )
  assert.doesNotMatch(said, / redirect_uris/)
  const { stdout } = await apply(['-f', path, '--plan'])
  assert.match(stdout, /Nothing differs/, stdout)
  const api = await commandJson<Members>(['api', 'show', 'https://api.acme.test'])
  assert.partialDeepStrictEqual(api, { name: null, scopes: [], tokens: { format: 'jwt', lifetime: null } })
  const board = await commandJson<Members>(['client', 'show', 'board'])
  assert.partialDeepStrictEqual(board, { approved_scope: '', rules: { consent: 'asked', pkce: 'nonce' } })
  for (const member of ['default_max_age', 'id_token_signed_response_alg'])
    assert.equal(board[member], undefined, member)
  await applied(EVERYTHING)
  const { stdout: again } = await apply(['-f', EVERYTHING, '--plan'])
  assert.match(again, /Nothing differs/, again)
})

test('a secret that changed is replaced, and no output, error or event has a secret', async () => {
  const variables = { BOARD_SECRET: 'another-secret-for-board' }
  const changed = await apply(['-f', EVERYTHING, '--yes', '--json'], { variables })
  assert.deepEqual(
    [changed.code, (JSON.parse(changed.stdout) as Members)['replaced_secrets']],
    [0, [{ kind: 'client', key: 'board' }]],
  )
  assert.match(await applied(EVERYTHING), /The secret of the client board was replaced\./)
  const seen = JSON.stringify([
    changed,
    await apply(['-f', EVERYTHING, '--plan', '--json']),
    selectAll(server, 'select * from settings'),
    selectAll(server, 'select * from audit_links'),
  ])
  for (const secret of [CLIENT_SECRET, PROVIDER_SECRET, variables.BOARD_SECRET]) assert.ok(!seen.includes(secret))
})

for (const [what, change, member] of [
  [
    'a public client does not become confidential',
    { client_id: 'app', client_name: 'App', redirect_uris: ['https://app.acme.test/callback'] },
    'token_endpoint_auth_method',
  ],
  [
    'a confidential client does not become public',
    { ...RECORDS.clients[0], client_secret: undefined, token_endpoint_auth_method: 'none' },
    'token_endpoint_auth_method',
  ],
  ['a client with keys gets no secret', { client_id: 'job', client_name: 'Job' }, 'token_endpoint_auth_method'],
] as const)
  test(`not possible by an update: ${what}, and the plan says so`, async () => {
    const path = writeSet({ clients: [change] })
    for (const words of [['--plan'], ['--yes']]) {
      const { code, stderr } = await assertStoreUnchanged(server, () => apply(['-f', path, ...words]))
      assert.equal(code, 2)
      assert.match(
        stderr,
        new RegExp(`The client ${change.client_id}: ${member} cannot be changed\\. .*grantor client delete`),
      )
    }
  })

test('not possible by an update: the issuer of a provider, and an id of this server that no client has', async () => {
  const other = writeSet({
    providers: [{ ...RECORDS.providers[0], issuer: 'https://idp.example' }],
    clients: [{ client_id: 'gci_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ', client_name: 'Other' }],
  })
  const { code, stderr } = await apply(['-f', other, '--plan'])
  assert.equal(code, 2)
  assert.match(stderr, /The provider entra: issuer cannot be changed/)
  assert.match(stderr, /There is no client gci_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ/)
})

test('a plan refuses an organization and a scope that nothing has, also when this run prunes them', async () => {
  const [entra] = RECORDS.providers
  const client = (scope: string) => ({ client_id: 'later', client_name: 'Later', scope })
  const wrong = { providers: [{ ...entra, organization_id: 'nowhere' }], clients: [client('openid projects:reed')] }
  for (const words of [['--plan'], ['--yes']]) {
    const path = writeSet(wrong)
    const { code, stderr } = await assertStoreUnchanged(server, () => apply(['-f', path, ...words]))
    assert.equal(code, 2)
    assert.match(stderr, /The provider entra: no file and no record is the organization nowhere\./)
    assert.match(stderr, /The client later: no API declares projects:reed\.\n/)
  }
  const later = writeSet({ clients: [client('openid projects:read')] })
  assert.equal((await apply(['-f', later, '--plan'])).code, 3)
  const second = { ...entra, provider_id: 'second', domains: undefined, sign_up: undefined }
  const other = { resource: 'https://only.acme.test', scopes: [] }
  const pruning = writeSet({ apis: [other], clients: [client('projects:read')], providers: [second] })
  const pruned = await apply(['-f', pruning, '--plan', '--prune'])
  assert.equal(pruned.code, 2)
  assert.match(pruned.stderr, /The client later: no API declares projects:read\.\n/)
  assert.match(pruned.stderr, /The provider second: no file and no record is the organization acme\./)
})

test('APL-04: a failure in the middle ends the run with exit code 1, and a second run completes it', async () => {
  const records = (uri: string) => ({
    apis: [{ resource: 'https://third.acme.test' }],
    clients: [
      { client_id: 'one', client_name: 'One' },
      { client_id: 'two', client_name: 'Two', redirect_uris: [uri] },
      { client_id: 'three', client_name: 'Three' },
    ],
  })
  const failed = await apply(['-f', writeSet(records('http://two.example/cb'), 'middle'), '--yes'])
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /Made 2 of 4 changes\.\n$/)
  assert.match(failed.stderr, /The client two: redirect_uris\.0: .*http/)
  const whole = writeSet(records('https://two.example/cb'), 'middle')
  assert.match(await applied(whole), /^\+ client two\n[^]*\+ client three\n[^]*Made 2 of 2 changes/)
  assert.equal((await apply(['-f', whole, '--plan'])).code, 0)
  await applied(writeSet({}, 'middle'), '--prune')
})

test('APL-03: --prune deletes only what the set applied, in the reverse order; another set and a renamed one own nothing of it', async () => {
  const made = await commandJson<Members>(['org', 'create', 'By hand'])
  const empty = writeSet({})
  const { code, stdout } = await apply(['-f', empty, '--plan'])
  assert.deepEqual(
    [code, stdout],
    [
      0,
      '12 records of the set production that no file names stay: organization acme, group finance, group acme/ops, api https://api.acme.test, api https://other.acme.test/, domain *.acme.test, domain bad.example, domain worse.example, provider entra, client board and 2 more. To delete: --prune\nNothing differs from the set production.\n',
    ],
  )
  const renamed = writeSet(RECORDS, 'renamed')
  const owned = await assertStoreUnchanged(server, () => apply(['-f', renamed, '--yes', '--prune']))
  assert.equal(owned.code, 2)
  assert.match(
    owned.stderr,
    /These records belong to the set production: organization acme, .*, client job\. To end that set: grantor apply --release production/,
  )
  assert.match(
    (await apply(['-f', writeSet({}, 'other'), '--yes', '--prune'])).stdout,
    /Nothing differs from the set other/,
  )
  const unasked = await assertStoreUnchanged(server, () => apply(['-f', empty, '--prune']))
  assert.equal(unasked.code, 2)
  assert.match(unasked.stderr, /Nothing was changed\. To apply the plan, add --yes\./)
  assert.match(unasked.stdout, /^- client board\n {4}Its tokens stop working\.\n/)
  const gone = await applied(empty, '--prune')
  assert.match(
    gone,
    /- client \S+\n[^]*- provider entra\n[^]*- domain \S+\n[^]*- api \S+\n {4}No more tokens are issued for it\.\n- group \S+\n {4}Its members are in it no longer\.\n[^]*- organization acme\n[^]*Made 12 of 12 changes/,
  )
  const { organizations } = await commandJson<{ organizations: readonly Members[] }>(['org', 'list'])
  assert.deepEqual(
    organizations.map((one) => one['organization_id']),
    [made['organization_id']],
  )
})

test('what exists becomes part of the set without a change, what was deleted is forgotten, and a set can be released', async () => {
  await command(['org', 'create', '--name', 'Kept', '--organization-id', 'kept'])
  await command(['org', 'create', '--name', 'Lost', '--organization-id', 'lost'])
  const organizations = ['kept', 'lost'].map((id) => ({ organization_id: id, name: id === 'kept' ? 'Kept' : 'Lost' }))
  const path = writeSet({ organizations }, 'adopted')
  assert.equal((await apply(['-f', path, '--plan'])).code, 3)
  assert.match(await applied(path), /^= organization kept \(belongs to the set from now on\)\n/)
  await command(['org', 'delete', 'lost'])
  assert.match(
    await applied(writeSet({ organizations: organizations.slice(0, 1) }, 'adopted'), '--prune'),
    /^= organization lost \(no longer belongs to the set\)\nMade 1 of 1 change/,
  )
  assert.match((await apply(['--release', 'adopted'])).stdout, /^The set adopted was removed\. Its records stay: 1\./)
  assert.equal((await apply(['--release', 'adopted'])).code, 1)
  assert.equal((await command(['org', 'show', 'kept'])).code, 0)
})

for (const [page, only] of [
  ['README.md', /```yaml\n([^]+?)```/],
  ['docs/apply.md', /```yaml\n([^]+?)```/],
  ['deploy/compose/apply.yaml', /([^]+)/],
] as const)
  test(`the file of ${page} is applied to an empty store, and then nothing differs`, async () => {
    const [, text = ''] = only.exec(readFileSync(page, 'utf8')) ?? []
    const path = write(text)
    const said = await applied(path)
    assert.match(said, /\+ client board\n[^]*Made (\d+) of \1 changes?\.\n$/)
    assert.match((await apply(['-f', path, '--plan'])).stdout, /Nothing differs/)
    await applied(writeSet({}, /^set: (\w+)/m.exec(text)?.[1]), '--prune')
  })
