import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { openLogoutNotifier } from '../../../src/server/background/logout-notifier.ts'
import type { IdTokenAlgorithm } from '../../../src/protocol/openid/id-token.ts'
import { PlainBrowser, type RegisteredClient } from '../../../tools/flow.ts'
import { signOut } from '../../../tools/sign-out.ts'
import { openNotifiedHost, type NotifiedHost } from '../../support/hosts/notified-host.ts'
import type { TestServer } from '../../support/server.ts'
import { execute, selectAll } from '../../support/store/dump.ts'
import { login, makeClient, openLogin } from './login.ts'

/** The members of the metadata that a test chooses. */
interface NotifiedClient {
  readonly uri?: string
  readonly id_token_signed_response_alg?: IdTokenAlgorithm
}

/** A server, and a host that receives the notices of its clients. */
export async function openNotified(test: Pick<TestContext, 'after'>) {
  const server = await openLogin(test)
  const host = await openNotifiedHost(test)
  const shared = openNotifier(server)

  function notifiedClient({ uri = host.uri(), ...metadata }: NotifiedClient = {}): Promise<RegisteredClient> {
    return makeClient(server, {}, { backchannel_logout_uri: uri, ...metadata })
  }

  /** A client that is to be notified of the end of a session. */
  async function endedSession(): Promise<RegisteredClient> {
    const client = await notifiedClient()
    const browser = new PlainBrowser(server)
    await login(server, client, { prompt: 'consent' }, browser)
    await signOut(browser)
    return client
  }

  /** Sends what is due, and returns what the host received by that. */
  async function delivered(): Promise<NotifiedHost['notices']> {
    const before = host.notices.length
    await notifying(shared)
    return host.notices.slice(before)
  }

  function stored() {
    return selectAll(server, 'select * from logout_notices')
  }

  function waiting() {
    return stored().filter(({ due_at: due }) => due !== null)
  }

  /** Copies the rows of a client for others that differ in their ids, and in an address. */
  function copyRows(table: string, client: RegisteredClient, count: number, from: number, uris = ['', '']): void {
    const { client_id: id } = client
    const [uri = '', other = ''] = uris
    const changed: Readonly<Record<string, string>> = {
      client_id: `client_id || (${from} + n)`,
      slot: `slot + 1000000 + ${from} + n`,
      metadata: `replace(metadata, '${uri}', '${other}')`,
    }
    const names = Object.keys(selectAll(server, `select * from ${table} where client_id = ?`, id)[0] ?? {})
    execute(
      server,
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
       insert into ${table} (${names.join()}) select ${names.map((name) => changed[name] ?? name).join()}
         from ${table}, numbers where client_id = ?`,
      id,
    )
  }

  return { server, host, notifiedClient, endedSession, delivered, stored, waiting, copyRows }
}

/** A notifier of the server that fails the test if it logs anything. */
export function openNotifier({ context }: Pick<TestServer, 'context'>) {
  const log = (fields: object): void => assert.fail(JSON.stringify(fields))
  return openLogoutNotifier(context, { error: log, warn: log })
}

/** Sends what is due, and waits until nothing is under way. */
export async function notifying(notifier: ReturnType<typeof openNotifier>): Promise<void> {
  await notifier.round()
  await notifier.idle()
}
