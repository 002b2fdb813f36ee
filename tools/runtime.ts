import { createUser } from '../src/admin/user/user.ts'
import { readConfig } from '../src/config/config.ts'
import { openRuntime, type Runtime } from '../src/server/context.ts'
import { EMAIL, PASSWORD } from './flow.ts'

/** Opens the store of a server with the server's settings, as a command does. Opening an empty database creates its tables. */
export function openStoreOf(settings: Readonly<Record<string, string>>): Promise<Runtime> {
  return openRuntime(readConfig({ ...settings, LOG_LEVEL: 'silent' }))
}

/** Creates the user of flow.ts, and runs further work on the store. */
export async function addUser(
  settings: Readonly<Record<string, string>>,
  work: (context: Runtime['context']) => Promise<void> = async () => undefined,
): Promise<void> {
  const { context, close } = await openStoreOf(settings)
  await createUser(context, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  await work(context)
  await close()
}
