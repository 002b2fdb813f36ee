import { argon2Sync, randomBytes } from 'node:crypto'
import { createUser } from '../../src/admin/user/user.ts'
import type { Passwords } from '../../src/ports/context.ts'
import type { UserRecord } from '../../src/ports/records/user.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import type { TestServer } from './server.ts'

/** The lowest cost that argon2 allows. */
const LEAST = { memory: 8, passes: 1, parallelism: 1 } as const
const LEAST_COSTS = `$argon2id$v=19$m=${LEAST.memory},t=${LEAST.passes},p=${LEAST.parallelism}$`

/** Creates an account. Its password is hashed at the lowest cost, also where the server keeps the costs of a release. */
export function createAccount(
  { context }: Pick<TestServer, 'context'>,
  account: Parameters<typeof createUser>[1],
): Promise<UserRecord> {
  const { passwords, settings } = context
  keepCheap(passwords)
  // Where passwords are off, accounts from before still have one.
  return createUser(
    { ...context, passwords: { ...passwords, hash: hashCheaply }, settings: { ...settings, passwords: 'on' } },
    account,
  )
}

const CHEAP: WeakSet<Passwords> = new WeakSet()

/** A hash of the lowest cost counts as one of the server, so that no sign-in of a test replaces it by an expensive one. */
function keepCheap(passwords: Passwords): void {
  if (CHEAP.has(passwords)) return
  CHEAP.add(passwords)
  const { verify } = passwords
  Object.assign(passwords, {
    async verify(...asked: Parameters<Passwords['verify']>) {
      const verified = await verify(...asked)
      return asked[1]?.startsWith(LEAST_COSTS) === true ? { ...verified, replaceable: undefined } : verified
    },
  })
}

/**
 * From now on the server hashes and checks passwords at the lowest cost. With that of a release, each takes 50 ms of processor time;
 * test/passwords and test/endpoints/sign-in/password.test.ts test it.
 */
export function lowerCost({ context: { passwords } }: Pick<TestServer, 'context'>): void {
  keepCheap(passwords)
  const { verify } = passwords
  Object.assign(passwords, {
    hash: hashCheaply,
    verify: async (...[password, stored, network]: Parameters<Passwords['verify']>) =>
      verify(password, stored ?? (await NO_ACCOUNT), network),
  })
}

/** Creates the account of tools/flow.ts. */
export async function createAda(server: Pick<TestServer, 'context'>): Promise<void> {
  await createAccount(server, { email: EMAIL, password: PASSWORD, name: 'Ada' })
}

async function hashCheaply(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const tag = argon2Sync('argon2id', { message: password, nonce, tagLength: 32, ...LEAST })
  return `${LEAST_COSTS}${unpadded(nonce)}$${unpadded(tag)}`
}

/** Of a random password. */
const NO_ACCOUNT = hashCheaply(randomBytes(32).toString('hex'))

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
