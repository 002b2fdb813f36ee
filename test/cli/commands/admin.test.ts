import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provisionSubject } from '../../../src/admin/user/subject.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, findingsAbout, openServerForCommands, runHere, runJsonHere } from '../../support/command.ts'
import { openPlace, run, serve } from '../../support/process.ts'
import { said } from '../../support/tasks.ts'

const URL = 'https://app.acme.test/oauth/consent'

const server = await openServerForCommands(WHOLE_FILE)

test('delegate create-credentials prints the token once, and doctor says until when users can sign in', async (t) => {
  assert.deepEqual(await findingsAbout('delegate'), [])
  process.env['GRANTOR_DELEGATE_URL'] = URL
  t.after(() => delete process.env['GRANTOR_DELEGATE_URL'])
  const none = `Users sign in at ${URL}, which has no valid credentials, so no user can sign in.`
  assert.deepEqual(await findingsAbout('delegate'), [['failed', none]])

  const { stdout } = await command(['delegate', 'create-credentials', '--days', '20'])
  assert.match(
    stdout,
    new RegExp(`^${said('delegate.create-credentials')}\nThe token, which is not shown again:\n {2}gde_\\S+\n`),
  )
  assert.deepEqual(await findingsAbout('delegate'), [
    ['warning', `Users sign in at ${URL}, whose credentials are valid for 19 more days.`],
  ])
  await command(['delegate', 'create-credentials'])
  assert.deepEqual(await findingsAbout('delegate'), [
    ['ok', `Users sign in at ${URL}, whose credentials are valid for 364 more days.`],
  ])

  const { stdout: list } = await command(['admin', 'list'])
  assert.match(list, /Delegated sign-in +delegate +sign-ins/)

  const own = ['--id', 'gh', '--name', 'GitHub', '--client-id', 'x', '--client-secret', '-']
  const created = await command(['provider', 'create', 'github', ...own], { input: 'secret\n' })
  assert.match(created.stdout, /No user can sign in at a provider while your application signs users in/)
  assert.match((await command(['provider', 'enable', 'gh'])).stdout, /^GitHub \(gh\) is enabled\.\nNo user can sign in/)
  assert.match((await command(['provider', 'list'])).stdout, /not used\n$/)
  assert.deepEqual((await findingsAbout('delegate'))[1], [
    'warning',
    'No user can sign in at GitHub (gh), because your application signs users in.',
  ])
  assert.deepEqual(await findingsAbout('provider'), [], 'The doctor sends no requests to a provider that is not used.')
  await command(['provider', 'disable', 'gh'])

  process.env['GRANTOR_ADMIN_PORT'] = 'off'
  t.after(() => delete process.env['GRANTOR_ADMIN_PORT'])
  const off = `Users sign in at ${URL}, which cannot answer: the administration is off.`
  assert.deepEqual(await findingsAbout('delegate'), [['failed', off]])
})

test('a command finds a person by the id that the application has, after a user id and an address', async () => {
  const known = { isEmailVerified: false, name: 'Ada', groups: undefined }
  await provisionSubject(server.context, { ...known, subject: 'u_4711', email: 'ada@app.test' })
  await provisionSubject(server.context, { ...known, subject: 'ada@app.test', email: 'eve@app.test' })
  await provisionSubject(server.context, { ...known, subject: 'bob@app.test', email: undefined })
  for (const [text, subject] of [
    ['u_4711', 'u_4711'],
    ['ada@app.test', 'u_4711'],
    ['bob@app.test', 'bob@app.test'],
  ] as const) {
    const { identities } = JSON.parse((await command(['user', 'show', text, '--json'])).stdout) as {
      readonly identities: readonly { readonly subject: string }[]
    }
    assert.deepEqual([identities[0]?.subject, identities.length], [subject, 1], text)
  }
  const { stdout } = await command(['audit', 'list', '--user', 'u_4711', '--event', 'user.provisioned'])
  assert.match(stdout, /user\.provisioned .*ada@app\.test/)
  for (const text of ['u_4712', 'with space', 'nobody@app.test'])
    assert.match(
      (await command(['user', 'show', text])).stderr,
      /There is no user with the id or the address .*application/,
    )
})

test('GRANTOR_ADMIN_TOKEN authenticates commands at a running server, and is not a setting of the server', async (t) => {
  const place = await openPlace(t)
  const made = await runJsonHere<{ readonly token: string; readonly credential_id: string }>(place, [
    'admin',
    'create',
    '--name',
    'Ada elsewhere',
    '--access',
    'write',
  ])
  const environment = { GRANTOR_ADMIN_TOKEN: made.token }
  await serve(place, { environment })
  const elsewhere = await openPlace(t)
  const flags = ['--server', `http://localhost:${place.adminPort}`]
  const created = await run(elsewhere, ['org', 'create', 'Acme', ...flags], { environment })
  assert.deepEqual([created.code, created.stderr], [0, ''], 'Nothing is opened here, so nothing is made.')
  const beside = await runHere(place, ['org', 'list'], { environment })
  assert.match(beside.stdout, /Acme/)
  const none = await runHere(elsewhere, ['org', 'list', ...flags])
  assert.deepEqual([none.code, /GRANTOR_ADMIN_TOKEN/.test(none.stderr)], [2, true])
  await runHere(place, ['admin', 'revoke', made.credential_id])
  const revoked = await command(['org', 'list', ...flags], { token: made.token })
  assert.equal(revoked.code, 1)
  assert.match(revoked.stderr, /^grantor: The token for this request is missing, invalid, expired or revoked\.\n/)
})
