import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { anOrganization, aUser } from '../support/records.ts'
import { openProcesses } from './processes.ts'

const MINUTE = 60_000

type Processes = ReturnType<typeof openProcesses>
type Process = ReturnType<Processes['open']>

/** Creates a user as a command does, and ends. Returns the id. */
async function runCommand({ open }: Processes, by = 'command-line'): Promise<string> {
  const command = open()
  const user = aUser()
  await command.store.actingAs(by, undefined).createUser(user)
  await command.recorder.close()
  command.close()
  return user.id
}

/** What the log says about users. */
function logged({ lines }: Process): readonly unknown[] {
  return lines
    .filter(({ event }) => String(event).startsWith('user.'))
    .map(({ event, user, actor }) => [event, user, actor])
}

function openServer(t: TestContext): { readonly processes: Processes; readonly server: Process } {
  const processes = openProcesses(t)
  return { processes, server: processes.open() }
}

test('a server logs what commands changed, with the id and the time, once', async (t) => {
  const { processes, server } = openServer(t)
  const before = await runCommand(processes)
  await server.recorder.flush()
  const after = await runCommand(processes)
  for (let minute = 0; minute < 3; minute += 1) {
    processes.clock.advance(MINUTE)
    await server.recorder.flush()
  }
  assert.deepEqual(logged(server), [
    ['user.created', before, 'command-line'],
    ['user.created', after, 'command-line'],
  ])
  const line = server.lines.find(({ user }) => user === after)
  const link = (await processes.links()).find(({ events }) => events.includes(after))
  assert.deepEqual([line?.['audit'], line?.['recorded_at']], [link?.id, new Date(link?.recordedAt ?? 0).toISOString()])
})

test('a command that runs for minutes and makes many changes is logged completely and once', async (t) => {
  const { processes, server } = openServer(t)
  const command = processes.open()
  const ids: string[] = []
  const change = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const organization = anOrganization()
      await command.store.actingAs('command-line', undefined).createOrganization(organization)
      ids.push(organization.id)
    }
  }
  for (const count of [1, 250, 0, 3]) {
    await change(count)
    await server.recorder.flush()
    processes.clock.advance(MINUTE)
  }
  const organizations = server.lines.filter(({ event }) => event === 'organization.created')
  assert.deepEqual(
    organizations.map(({ organization }) => organization),
    ids,
  )
})

test('a command whose first event has no actor is logged, also if the server saw only that event', async (t) => {
  const { processes, server } = openServer(t)
  const command = processes.open()
  await command.store.recordEvent({ event: 'key.added' })
  await server.recorder.flush()
  const user = aUser()
  await command.store.actingAs('command-line', undefined).createUser(user)
  processes.clock.advance(MINUTE)
  await server.recorder.flush()
  assert.deepEqual(logged(server), [['user.created', user.id, 'command-line']])
})

test('a server logs neither what other servers recorded, nor what commands changed more than an hour ago', async (t) => {
  const { processes, server } = openServer(t)
  await runCommand(processes)
  await runCommand(processes, 'gad_of-an-administrator')
  processes.clock.advance(61 * MINUTE)
  await server.recorder.flush()
  await runCommand(processes, 'server')
  const other = processes.open()
  await other.store.recordEvent({ event: 'sign-in.failed' })
  processes.clock.advance(MINUTE)
  await server.recorder.flush()
  assert.deepEqual(
    server.lines.filter(({ event }) => event !== 'audit.head'),
    [],
  )
})
