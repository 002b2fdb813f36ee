import { isIP } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { asAdministrator, LIBRARY } from '../admin/administrators.ts'
import { runTask } from '../admin/run-task.ts'
import { TASKS } from '../admin/tasks.ts'
import { ready } from '../endpoints/well-known/health.ts'
import type { TokenClaims } from '../protocol/token/introspection-answer.ts'
import { openNode } from '../server/node.ts'
import { openPlatform } from '../server/platform.ts'
import type { GrantorTasks } from '../../generated/api-types.d.ts'
import { answerRequest, type Caller } from './fetch.ts'
import { checkOptions, guardedLog } from './host-options.ts'
import { mountListener } from './mount.ts'
import { configOf, type GrantorOptions } from './options.ts'
import { verifyToken, type TokenDemand } from './verify.ts'

export { AdminError } from '../admin/admin-error.ts'
export { ConfigError } from '../config/config.ts'
export type * from '../../generated/api-types.d.ts'
export type { Caller } from './fetch.ts'
export type { GrantorOptions } from './options.ts'
export type { HostRequest, People, Person } from './people.ts'
export type { TokenClaims } from '../protocol/token/introspection-answer.ts'
export { TokenRefused, type TokenDemand } from './verify.ts'

/** An authorization server within another program, the host. */
export interface Grantor {
  /**
   * Serves a request of `node:http` and of what is built on it, before any body parser. A path that is not Grantor's goes to `next`, if
   * there is one, and otherwise gets 404.
   */
  readonly handler: (message: IncomingMessage, response: ServerResponse, next?: (cause?: unknown) => void) => void
  /** Serves a request of Fetch. @throws TypeError without the caller's address */
  readonly fetch: (request: Request, from: Caller) => Promise<Response>
  /** Whether a path, with or without a query, is Grantor's: below the issuer, or a metadata address at the root of its host. */
  readonly handles: (path: string) => boolean
  /** The tasks of operators. The audit records the changes with the actor `library`. */
  readonly tasks: GrantorTasks
  /** Verifies an access token for an API in this process. @throws TokenRefused; TypeError when the demand names no API */
  readonly verify: (token: string, demand: TokenDemand) => Promise<TokenClaims>
  /** The metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>
  /** Whether requests can be served: the database works, and the clock agrees. */
  readonly ready: () => Promise<boolean>
  /** Completes what is under way, then closes the database. Requests from now on get 503. */
  readonly close: () => Promise<void>
}

/**
 * Opens an authorization server as a part of this program. It prints nothing, handles no signal, ends no process and reads no environment
 * variable. Several may be open in one process, each with its own issuer and database.
 *
 * @throws ConfigError with all mistakes in the options; Error when the database cannot be opened
 */
export async function createGrantor(options: GrantorOptions): Promise<Grantor> {
  const given = checkOptions(options)
  const config = configOf(given)
  const log = guardedLog(options)
  const output = { write: (line: string) => log(line.trimEnd()), flush: async () => undefined }
  const platform = openPlatform(config, output)
  let isOver = false
  // A host is not ended like a server, but it serves nothing from then on.
  const onServerEnd = (): void => void (isOver = true)
  const node = await openNode(config, platform, { scrapeAll: undefined, onServerEnd, isMounted: true })
  const { context } = node
  const requireOpen = (): void => {
    if (isOver) throw new Error('This Grantor is closed, or its database was closed or has another root secret.')
    if (context.hasStoreGoneBack())
      throw new Error('The database may have been restored. See store.went-back in the log.')
  }
  const administration = asAdministrator(context, LIBRARY)
  const tasks = Object.fromEntries(
    TASKS.map((task) => [
      task.name,
      async (input: Readonly<Record<string, unknown>> = {}) => {
        requireOpen()
        return mount.track(runTask(administration, task, input, () => undefined))
      },
    ]),
  ) as unknown as GrantorTasks
  const mount = mountListener({ node, people: given.people, tasks, logger: platform.logger, isOver: () => isOver })
  node.start()
  await node.listenForAdmin().catch(async (cause: unknown) => {
    await node.close()
    throw cause
  })
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    node.drain()
    isOver = true
    await mount.finished()
    await node.close()
  }

  return {
    handler: mount.handler,
    handles: mount.handles,
    tasks,
    fetch: async (request, from) => {
      if (typeof from?.address !== 'string' || isIP(from.address) === 0) {
        throw new TypeError('Give the address of the caller, whose limits the request counts against: { address }')
      }
      return answerRequest(mount, request, from)
    },
    async verify(token, demand) {
      requireOpen()
      return mount.track(verifyToken(context, token, demand))
    },
    metrics: node.scrape,
    ready: async () => !isOver && (await ready(context).then(isTrue, isFalse)),
    close: () => (closing ??= close()),
  }
}

const isTrue = (): boolean => true
const isFalse = (): boolean => false
