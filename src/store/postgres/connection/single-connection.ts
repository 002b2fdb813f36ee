import pg from 'pg'
import { forOperator } from '../explain.ts'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Runs `work` over a connection of its own, whose statements have no time limit. `types` converts the values of columns.
 *
 * @throws Error with an explanation for the operator
 */
export async function withConnection<T>(
  url: string,
  { name, types }: { readonly name: string; readonly types?: pg.CustomTypesConfig },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `grantor ${name}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    ...(types !== undefined && { types }),
  })
  // If the connection breaks, the running statement fails and reports that.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } catch (cause) {
    throw forOperator(cause)
  } finally {
    await client.end()
  }
}
