import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createGrantor, type Grantor, type GrantorOptions } from '../../src/library/grantor.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { placeBlankDatabase } from '../support/store/blank-database.ts'
import { temporaryFolder } from '../support/server.ts'

/** An instance in this process, over a database of its own, with the user of flow.ts. */
export interface Opened {
  readonly grantor: Grantor
  readonly issuer: string
  readonly origin: string
  readonly port: number
  readonly log: () => string
}

/** Opens an instance below the path of an issuer, which a test may serve at the port. */
export async function openGrantor(
  t: TestContext,
  options: Partial<GrantorOptions> & { readonly path?: string } = {},
): Promise<Opened> {
  const { path = '/auth', ...others } = options
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const file = join(temporaryFolder(t), 'grantor.db')
  placeBlankDatabase(file)
  const lines: string[] = []
  const issuer = origin + path
  const log = (line: string): void => void lines.push(line)
  const grantor = await createGrantor({ issuer, database: `sqlite:${file}`, log, ...others })
  t.after(() => grantor.close())
  if (options.people === undefined) {
    await grantor.tasks['user.create']({ email: EMAIL, password: PASSWORD, name: 'Ada' })
  }
  return { grantor, issuer, origin, port, log: () => lines.join('\n') }
}

/** Serves until the end of the test. */
export async function serveHost(t: TestContext, port: number, listener: RequestListener): Promise<void> {
  const server = createServer(listener).listen(port, 'localhost')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
}
