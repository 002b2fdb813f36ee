import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../../../src/admin/doctor/finding.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, openServerForCommands } from '../../support/command.ts'

const URL = 'https://app.acme.test/oauth/consent'

await openServerForCommands(WHOLE_FILE)

async function findings(): Promise<readonly (readonly [Finding['verdict'], string])[]> {
  const { stdout } = await command(['doctor', '--json'])
  const report = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  return report.findings.filter(({ check }) => check === 'delegate').map(({ verdict, message }) => [verdict, message])
}

test('delegate create-credentials prints the token once, and doctor says until when users can sign in', async (t) => {
  assert.deepEqual(await findings(), [])
  process.env['GRANTOR_DELEGATE_URL'] = URL
  t.after(() => delete process.env['GRANTOR_DELEGATE_URL'])
  const none = `Users sign in at ${URL}, which has no valid credentials, so nobody can sign in.`
  assert.deepEqual(await findings(), [['failed', none]])

  const { stdout } = await command(['delegate', 'create-credentials', '--days', '20'])
  assert.match(
    stdout,
    /^The token for your application, which is not shown again:\n {2}gde_\S+\nIt can answer sign-ins, and/,
  )
  assert.deepEqual(await findings(), [
    ['warning', `Users sign in at ${URL}, whose credentials are valid for 19 more days.`],
  ])
  await command(['delegate', 'create-credentials'])
  assert.deepEqual(await findings(), [
    ['ok', `Users sign in at ${URL}, whose credentials are valid for 364 more days.`],
  ])

  const { stdout: list } = await command(['admin', 'list'])
  assert.match(list, /Delegated sign-in +delegate +sign-ins/)
  process.env['GRANTOR_ADMIN_PORT'] = 'off'
  t.after(() => delete process.env['GRANTOR_ADMIN_PORT'])
  const off = `Users sign in at ${URL}, which cannot answer: the administration is off.`
  assert.deepEqual(await findings(), [['failed', off]])
})
