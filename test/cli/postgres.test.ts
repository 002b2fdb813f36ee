import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../../src/checks/finding.ts'
import { runHere, runJsonHere } from '../support/command.ts'
import { openPlace, openPostgresPlace, serve, withDatabase, type Place } from '../support/process.ts'
import { said } from '../support/tasks.ts'

/** The command line over PostgreSQL, where it differs from the one over a file. */

const HIDDEN = 'a-hidden-password'

test('every noun works on PostgreSQL, and the first command reports that it created the schema', async (t) => {
  const place = await openPostgresPlace(t)
  const ada = ['--email', 'ada@acme.test', '--password', 'correct horse battery staple']
  const created = await runHere(place, ['user', 'create', ...ada])
  assert.match(
    created.stderr,
    /^grantor: postgres:\/\/127\.0\.0\.1:\d+\/\w+ had no Grantor schema; it was created\. .*\n$/,
  )
  assert.match(created.stdout, new RegExp(said('user.create', { email: 'ada@acme\\.test' })))
  const listed = await runHere(place, ['user', 'list', '--json'])
  assert.equal(listed.stderr, '')
  const { users } = JSON.parse(listed.stdout) as { readonly users: readonly { readonly email: string }[] }
  assert.deepEqual(
    users.map(({ email }) => email),
    ['ada@acme.test'],
  )
  const resource = 'https://api.acme.test'
  assert.equal((await runHere(place, ['api', 'create', '--resource', resource, '--scope', 'read=Read'])).code, 0)
  const { apis } = await runJsonHere<{ readonly apis: readonly { readonly resource: string }[] }>(place, [
    'api',
    'list',
  ])
  assert.equal(apis[0]?.resource, resource)
  assert.deepEqual(await runJsonHere(place, ['client', 'list']), { clients: [], next: null })
  assert.deepEqual(await runJsonHere(place, ['grant', 'list']), { grants: [], names: {}, next: null })
  const { organization_id: org } = await runJsonHere<{ readonly organization_id: string }>(place, [
    'org',
    'create',
    'Acme',
  ])
  assert.match(
    (await runHere(place, ['org', 'add-member', org, 'ada@acme.test'])).stdout,
    new RegExp(said('member.add', { user_id: 'ada@acme\\.test \\(gus_\\S+\\)', organization_id: org })),
  )
  assert.match(
    (await runHere(place, ['admin', 'create', '--name', 'Ada', '--access', 'read'])).stdout,
    /\n {2}gad_\S+\n/,
  )
  const audit = await runHere(place, ['audit', 'list', '--organization', org])
  assert.match(audit.stdout, /member\.added +command-line .*[^]*organization\.created +command-line/)
})

test('every command reports an unreachable PostgreSQL in one sentence with exit code 1', async (t) => {
  const place = withDatabase(await openPlace(t), `postgres://ada:${HIDDEN}@127.0.0.1:1/grantor`)
  const verbs = [['migrate'], ['migrate', 'status'], ['user', 'list'], ['client', 'list'], ['api', 'list']]
  for (const { code, stdout, stderr } of await Promise.all(verbs.map((words) => runHere(place, words)))) {
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^grantor: PostgreSQL cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1\. .*DATABASE_URL.*\n$/,
    )
  }
})

test('a mistake in DATABASE_URL is reported without the password', async (t) => {
  const place = withDatabase(await openPlace(t), `postgres://ada:${HIDDEN}@127.0.0.1:none/grantor`)
  const { code, stderr } = await runHere(place, ['user', 'list'])
  assert.equal(code, 1)
  assert.match(stderr, /DATABASE_URL has a port/)
  assert.ok(!stderr.includes(HIDDEN))
})

test('doctor finds one fault in the PostgreSQL of the tests, and no other', async (t) => {
  const place = await openPostgresPlace(t)
  await serve(place)
  const { code, complaints, stdout } = await examine(place)
  assert.deepEqual([code, complaints.length], [1, 1])
  assert.match(complaints[0] ?? '', /^database failed: fsync is off/)
  for (const check of ['schema', 'secret', 'keys', 'clock', 'connections', 'issuer']) {
    assert.match(stdout, new RegExp(`"check": ?"${check}"`))
  }
  assert.ok(!stdout.includes(password(place)))
})

test('a node with another secret does not start, and doctor reports it', async (t) => {
  const place = await openPostgresPlace(t)
  assert.equal((await runHere(place, ['migrate'])).code, 0)
  const environment = { GRANTOR_SECRET: 'another secret that is long enough' }
  const { code, stderr } = await runHere(place, ['serve'], { environment })
  assert.equal(code, 1)
  assert.match(stderr, /^grantor: This database was made under another root secret than the one in GRANTOR_SECRET\./)
  const { complaints } = await examine(place, environment)
  assert.ok(
    complaints.some((line) => /^secret failed: postgres:\/\/.* another root secret/.test(line)),
    complaints.join(),
  )
})

test('doctor reports why a database cannot be used, without the password', async (t) => {
  const place = await openPostgresPlace(t)
  const url = place.environment['DATABASE_URL'] ?? ''
  const wrong = Object.assign(new URL(url), { password: HIDDEN }).href
  const refused = await examine(place, { DATABASE_URL: wrong })
  assert.match(refused.complaints[0] ?? '', /^database failed: PostgreSQL refused: password authentication failed/)
  assert.ok(!refused.stdout.includes(HIDDEN))
})

interface Examined {
  readonly code: number | null
  readonly stdout: string
  readonly complaints: readonly string[]
}

async function examine(place: Place, environment: Readonly<Record<string, string>> = {}): Promise<Examined> {
  const { code, stdout } = await runHere(place, ['doctor', '--json'], { environment })
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  const complaints = findings
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ check, verdict, message }) => `${check} ${verdict}: ${message}`)
  return { code, stdout, complaints }
}

function password(place: Place): string {
  return new URL(place.environment['DATABASE_URL'] ?? '').password
}
