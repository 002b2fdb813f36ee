import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adminServerOf, type AdminServer } from '../../support/admin-server.ts'
import { createAda } from '../../support/accounts.ts'
import { registerClient } from '../../../tools/flow.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'

const FILE = { after: (end: () => Promise<void>): void => void ends.push(end) }
const ends: (() => Promise<void>)[] = []

async function open(): Promise<AdminServer> {
  const server = await openServerForCommands(FILE)
  await createAda(server)
  return adminServerOf(server)
}

const stage = await open()

test.after(async () => {
  for (const end of ends) await end()
})

test('a user is found by address, and a client or an organization by a name that is unique', async () => {
  const { grant_id, user_id, client_id, organization_id } = await stage.makePeopledOrganization()
  const { store } = stage.server.context
  const email = (await store.findUser(user_id))?.email ?? ''
  const name = (await store.findClient(client_id))?.metadata.client_name ?? ''
  const shown = await commandJson<{ client_id: string }>(['client', 'show', name])
  assert.equal(shown.client_id, client_id)
  assert.equal((await commandJson<{ name: string }>(['org', 'show', 'Acme'])).name, 'Acme')
  for (const filter of [
    ['--user', email],
    ['--client', name],
    ['--organization', 'Acme'],
    ['--user', email, '--client', name, '--organization', 'Acme'],
  ]) {
    const { grants, names } = await commandJson<{ grants: { grant_id: string }[]; names: object }>([
      'grant',
      'list',
      ...filter,
    ])
    assert.deepEqual(
      grants.map((grant) => grant.grant_id),
      [grant_id],
      filter.join(' '),
    )
    assert.deepEqual(names, { [user_id]: email, [client_id]: name, [organization_id]: 'Acme' })
  }
  const { stdout } = await command(['audit', 'list', '--user', email, '--event', 'authorization.approved'])
  assert.match(stdout, new RegExp(`user ${email}, client ${name} …\\S{6}, organization Acme …\\S{6}, authorization=`))
})

test('the output for a name has the id too, and a token without a resource is shown as for the issuer', async () => {
  const { client_id } = await registerClient(stage.server, { client_name: 'Notes desktop' })
  const { stdout } = await command(['client', 'disable', 'Notes desktop'])
  assert.match(
    stdout,
    new RegExp(`^Notes desktop \\(${client_id}\\) is disabled\\. To undo this: grantor client enable ${client_id}\n`),
  )
  const unknown = await command(['user', 'show', 'Ada'])
  assert.match(unknown.stderr, /There is no user with the id or the address "Ada"/)
  const { access_token: token } = await stage.makeTokens()
  assert.match((await command(['token', 'inspect', token])).stdout, /resources +none: the token is for the issuer/)
})

test('a name of several records is rejected with their ids, and an unknown name is rejected', async () => {
  const [first, second] = [
    await registerClient(stage.server, { client_name: 'Twin' }),
    await registerClient(stage.server, { client_name: 'Harmless', 'client_name#de': 'Twin' }),
  ]
  const several = await command(['client', 'disable', 'Twin'])
  assert.equal(several.code, 1)
  assert.match(several.stderr, /2 clients have the name "Twin"\. Give the id of one: gci_\S+, gci_\S+\./)
  for (const { client_id } of [first, second]) assert.ok(several.stderr.includes(client_id))
  const none = await command(['client', 'disable', 'No \u001b[2J one'])
  assert.match(none.stderr, /There is no client with the id or the name "No \\u\{1b\}\[2J one"/)
})
