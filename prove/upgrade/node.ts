import type { Agent } from 'node:http'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/process/server.ts'
import { openRemoteServer, type RemoteServer } from '../../tools/remote-server.ts'
import type { Place } from './held.ts'
import { placeOf, runCommand } from './releases.ts'

const ANSWER_LIMIT_MS = 10_000

/** A server of a release. */
export interface Node extends Place {
  readonly process: ServerProcess
  readonly server: RemoteServer
}

export interface NodeOptions {
  readonly folder: string
  readonly agent: Agent
  /** Of all nodes. */
  readonly settings: Readonly<Record<string, string>>
  readonly issuer: string
  readonly administrator: string
}

/** The settings of all nodes of an issuer on a database. */
export function settingsOf(issuer: string, database: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: database,
    GRANTOR_SECRET: newSecret(),
    GRANTOR_ISSUER: issuer,
    GRANTOR_DRAIN_SECONDS: '0',
    GRANTOR_REGISTRATION_RATE: '100000',
    GRANTOR_AUTHORIZATION_RATE: '100000',
  }
}

/** Makes the database, with the user of tools/flow.ts. Returns the token of an administrator. */
export async function createStore(release: string, settings: Readonly<Record<string, string>>): Promise<string> {
  await runCommand(release, settings, 'user', 'create', '--email', EMAIL, '--password', PASSWORD)
  const created = await runCommand(release, settings, 'admin', 'create', '--name', 'A', '--access', 'write', '--json')
  return (JSON.parse(created) as { readonly token: string }).token
}

/** Prepares a server of a release without starting it. */
export function openNode(
  release: string,
  [port, adminPort]: readonly [number, number],
  { folder, agent, settings, issuer, administrator }: NodeOptions,
): Node {
  const remote = { agent, limitMs: ANSWER_LIMIT_MS }
  return {
    issuer,
    administrator,
    now: Date.now,
    server: openRemoteServer({ port, ...remote, host: new URL(issuer).host }),
    admin: openRemoteServer({ port: adminPort, ...remote }),
    process: openServerProcess({
      port,
      folder,
      settings: { ...settings, GRANTOR_ADMIN_PORT: String(adminPort) },
      ...placeOf(release),
    }),
  }
}
