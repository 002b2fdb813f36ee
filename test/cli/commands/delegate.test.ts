import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, findingsAbout, openServerForCommands } from '../../support/command.ts'

const URL = 'https://app.acme.test/oauth/consent'

await openServerForCommands(WHOLE_FILE)

test('delegate create-credentials prints the token once, and doctor says until when users can sign in', async (t) => {
  assert.deepEqual(await findingsAbout('delegate'), [])
  process.env['GRANTOR_DELEGATE_URL'] = URL
  t.after(() => delete process.env['GRANTOR_DELEGATE_URL'])
  const none = `Users sign in at ${URL}, which has no valid credentials, so nobody can sign in.`
  assert.deepEqual(await findingsAbout('delegate'), [['failed', none]])

  const { stdout } = await command(['delegate', 'create-credentials', '--days', '20'])
  assert.match(
    stdout,
    /^The token for your application, which is not shown again:\n {2}gde_\S+\nIt can answer sign-ins, and/,
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
  assert.match(created.stdout, /Nobody can sign in at a provider while your application signs users in/)
  assert.match((await command(['provider', 'enable', 'gh'])).stdout, /^GitHub is enabled\. Nobody can sign in/)
  assert.match((await command(['provider', 'list'])).stdout, /not used\n$/)
  assert.deepEqual((await findingsAbout('delegate'))[1], [
    'warning',
    'Nobody can sign in at GitHub (gh), because your application signs users in.',
  ])
  assert.deepEqual(await findingsAbout('provider'), [], 'The doctor sends no requests to a provider that is not used.')
  await command(['provider', 'disable', 'gh'])

  process.env['GRANTOR_ADMIN_PORT'] = 'off'
  t.after(() => delete process.env['GRANTOR_ADMIN_PORT'])
  const off = `Users sign in at ${URL}, which cannot answer: the administration is off.`
  assert.deepEqual(await findingsAbout('delegate'), [['failed', off]])
})
