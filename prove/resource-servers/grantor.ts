import { Agent } from 'node:http'
import { join } from 'node:path'
import type { Context } from '../../src/ports/context.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openRemoteServer, type RemoteServer } from '../../tools/remote-server.ts'
import { addUser, openStoreOf } from '../../tools/runtime.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'

/** Grantor, whose tokens the resource servers check. */
export interface Grantor extends RemoteServer {
  /** The issuer, which is also the address. */
  readonly origin: string
  /** The context of a command on the same store. */
  readonly context: Context
  readonly close: () => Promise<void>
}

/** Starts Grantor with a user, and with these settings besides the usual ones. */
export async function openGrantor(settings: Readonly<Record<string, string>>): Promise<Grantor> {
  const [port = 0] = await freePorts(1)
  const origin = `http://localhost:${port}`
  const folder = openFolder()
  const server = openServerProcess({
    port,
    folder,
    settings: {
      DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
      GRANTOR_ISSUER: origin,
      // Both loopback addresses, because programs resolve localhost to either.
      GRANTOR_HOST: 'localhost',
      GRANTOR_REGISTRATION_RATE: '1000000',
      GRANTOR_AUTHORIZATION_RATE: '1000000',
      LOG_LEVEL: 'error',
      ...settings,
    },
  })
  // Where an application signs users in, no user could get a password.
  await addUser({ ...server.settings, GRANTOR_DELEGATE_URL: '' })
  await server.start()
  const { context, close } = await openStoreOf(server.settings)
  const remote = openRemoteServer({ port, host: `localhost:${port}`, agent: new Agent(), limitMs: 20_000 })
  return {
    ...remote,
    origin,
    context,
    async close() {
      await close()
      await server.stop()
    },
  }
}
