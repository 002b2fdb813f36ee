import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminServerOf } from '../../support/admin-server.ts'
import type { TestServer } from '../../support/server.ts'
import { command, openServerForCommands } from '../../support/command.ts'

/** A mistake is reported by the option as typed, not by the name of the member in JSON. */

const ends: (() => unknown)[] = []
let server: TestServer
let token: string

before(async () => {
  server = await openServerForCommands({ after: (end) => void ends.push(end as () => unknown) })
  token = (await adminServerOf(server).issue('write', undefined, 365)).token
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const CLIENT = `gci_${'0'.repeat(34)}`
const ORGANIZATION = `gor_${'0'.repeat(34)}`

const MISTAKEN: readonly (readonly [typed: string, ...lines: readonly string[]])[] = [
  ['client show gci_x', '<client>: This is not a client id.'],
  ['client show --id gci_x', '--id: This is not a client id.'],
  ['client list --before /x', '--before: This is not a client id.'],
  [
    'client rotate-secret gci_x --overlap 99999999',
    '<client>: This is not a client id.',
    '--overlap: This must be at most ',
  ],
  [`client approve-scopes ${CLIENT} --scope a"b`, '--scope: The scope is malformed, or has too many values.'],
  [
    'grant list --client gci_x --user ada@acme.test --organization gor_x',
    '--organization: This is not the id of an organization.',
  ],
  ['grant revoke nonsense', '<grant>: This is not the id of a grant.'],
  ['audit list --client gci_x', '--client: This is not a client id.'],
  ['audit verify --head nonsense', '--head nonsense: '],
  ['admin revoke nonsense', "<id>: This is not the id of an administrator's credentials."],
  ['admin create --name x --access read --days 366', '--days: This must be at most 365.'],
  ['user list --limit 0', '--limit: This must be at least 1.'],
  [
    'admin create --name x --access read --organization gor_x',
    '--organization: This is not the id of an organization.',
  ],
  ['admin create --name \u0007 --access read', '--name: This must have between 1 and 200 characters'],
  [
    'org install gor_x --client gci_x --scope a"b',
    '<organization>: This is not the id of an organization.',
    '--client: This is not a client id.',
    '--scope: The scope is malformed',
  ],
  [`org uninstall ${ORGANIZATION} gci_x`, '<client>: This is not a client id.'],
  // The member is looked for first, which asks for the organization.
  ['org disable-member gor_x ada@acme.test', '<organization>: This is not the id of an organization.'],
  [
    'org members gor_x --before /y',
    '<organization>: This is not the id of an organization.',
    '--before: This is not a',
  ],
]

for (const [typed, ...lines] of MISTAKEN) {
  test(`an error names the typed option or argument, for the store and for a server: ${JSON.stringify(typed)}`, async () => {
    const words = typed.split(' ')
    const { code, stdout, stderr } = await command(words)
    assert.deepEqual([code, stdout], [1, ''], stderr)
    const message = stderr.replace(/^grantor: /, '').trimEnd()
    const starts = message.split('\n').map((line, index) => line.slice(0, lines[index]?.length))
    assert.deepEqual(starts, lines, stderr)
    const away = await command([...words, '--server', server.adminOrigin], { token })
    assert.deepEqual(away, { code, stdout, stderr })
  })
}
