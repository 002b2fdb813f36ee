import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureConsoleClient } from '../../../src/admin/client/console.ts'
import { CONSOLE_CLIENT_ID } from '../../../src/protocol/client/console.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, findingsAbout, openServerForCommands } from '../../support/command.ts'
import { storeApp } from '../../support/sign-in/stored-app.ts'

const server = await openServerForCommands(WHOLE_FILE)

/** The words of a command that must succeed. */
async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(typed)
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

test('role: set --link creates the user, the role and the link, and doctor names a role with one factor', async (t) => {
  const email = 'first@acme.test'
  assert.equal((await command(['role', 'set', email, '--access', 'write'])).code, 1)
  assert.match(
    await words('role', 'set', email, '--access', 'write', '--link'),
    /^first@acme\.test may use the console with write access\.\nThe console: http:\/\/localhost:\d+\/console\n\nhttp:\S+\n\nHand this link to first@acme\.test: .* once/,
  )
  assert.match(
    await words('role', 'set', '--email', email, '--access', 'read'),
    /with read access\.\naccess +write → read\nThe console: \S+\nA link that was handed to the user before has ended\. .*: grantor user create-link first@acme\.test\n$/,
  )
  const again = await commandJson<{ user_id: string; console_url: string; link: { purpose: string } }>([
    'role',
    'set',
    email,
    '--access',
    'write',
    '--link',
  ])
  assert.equal(again.link.purpose, 'invitation')
  assert.match(again.console_url, /^http:\/\/localhost:\d+\/console$/)
  const [headings = '', row = ''] = (await words('role', 'list')).split('\n')
  assert.match(headings, /^USER +ACCESS +TO +TWO FACTORS +SET \(UTC\) +SIGNED IN \(UTC\) +ID$/)
  assert.match(row, /^first@acme\.test +write +everything +no +\d{4}-.* +– +gus_/)
  await words('org', 'create', 'Acme')
  const within = ['role', 'set', email, '--access', 'read', '--organization', 'Acme']
  assert.match(
    await words(...within),
    /with read access\.\nThe role is for the organization Acme alone\.\naccess +write → read\norganization_id +– → gor_\S+\nThe console: http/,
  )
  assert.match(await words('role', 'list'), /^first@acme\.test +read +Acme +no /m)
  assert.equal(
    (await command(['role', 'set', 'other@acme.test', ...within.slice(3, 5), '--organization', 'No'])).code,
    1,
  )
  assert.deepEqual(await findingsAbout('roles'), [['ok', '1 user has a role for the console.']])
  Object.assign(process.env, { GRANTOR_ISSUER: 'https://auth.acme.test', GRANTOR_HOST: '127.0.0.1' })
  const restore = (): void => {
    delete process.env['GRANTOR_ISSUER']
    delete process.env['GRANTOR_HOST']
  }
  t.after(restore)
  const weak = `1 user has a role for the console, and the console refuses those without a second factor: ${email}.`
  assert.deepEqual(await findingsAbout('roles'), [['warning', weak]])
  await storeApp(server.context, again.user_id as UserId)
  assert.deepEqual(await findingsAbout('roles'), [['ok', '1 user has a role for the console.']])
  process.env['GRANTOR_DELEGATE_URL'] = 'https://app.acme.test/oauth/consent'
  t.after(() => delete process.env['GRANTOR_DELEGATE_URL'])
  assert.deepEqual(await findingsAbout('roles'), [
    [
      'warning',
      '1 user has a role for the console, and your application signs users in: with its credentials a program can act as each of them.',
    ],
  ])
  assert.match(
    (await command(['role', 'list'])).stdout.split('\n')[1] ?? '',
    /^first@acme\.test +read +Acme +by application +\d{4}-/,
  )
  delete process.env['GRANTOR_DELEGATE_URL']
  restore()
  await words(
    'client',
    'create',
    '--name',
    'Board',
    '--client-id',
    'board',
    '--redirect-uri',
    'https://board.example/cb',
  )
  await words('client', 'disable', 'board')
  assert.deepEqual(await findingsAbout('roles'), [['ok', '1 user has a role for the console.']])
  await ensureConsoleClient(server.context, 'http://localhost:3001')
  await words('client', 'disable', CONSOLE_CLIENT_ID)
  const closed = 'The client of the console is disabled, so no user can enter the console.'
  assert.deepEqual(await findingsAbout('roles'), [['warning', closed]])
  await words('client', 'enable', CONSOLE_CLIENT_ID)
  assert.equal(await words('role', 'remove', email), `${email} (${again.user_id}) may no longer use the console.\n`)
  assert.match(await words('role', 'list'), /^No user may use the console\. Give a role: grantor role set/)
})
