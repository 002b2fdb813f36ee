import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OperationResult, StoreDriver } from '../../../src/ports/store.ts'
import type { SessionStart } from '../../../src/ports/operations/session.ts'
import type { Hit } from '../../../src/ports/operations/server.ts'
import type { CausesMail } from '../../../src/ports/operations/mail.ts'
import type { Input, Operation, OperationName, Outcome } from '../../../src/ports/operations/index.ts'
import { PROVIDER_LIMIT } from '../../../src/protocol/sign-in/provider.ts'
import { aUser } from '../../support/records.ts'

/** Two handles on the same data, like those of two processes. */
export interface Stores {
  readonly first: StoreDriver
  readonly second: StoreDriver
}

/** The same, and all rows that are stored, by table. */
export interface ContractStores extends Stores {
  readonly rows: () => Promise<Readonly<Record<string, readonly unknown[]>>>
}

/** Opens both handles on empty data, which is removed after the test. */
export type OpenStores = (test: Pick<TestContext, 'after'>) => Promise<ContractStores>

/** Registers the cases of one part of the contract. */
export type Suite = (check: (claim: string, body: (stores: ContractStores) => Promise<void>) => void) => void

export function runSuite(store: string, open: OpenStores, suite: Suite): void {
  suite((claim, body) => {
    test(`${store}: ${claim}`, async (t) => body(await open(t)))
  })
}

/** The operations whose input has mails. One that is missing does not compile. */
const CAUSES_MAIL: { readonly [Name in OperationName as Input<Name> extends CausesMail ? Name : never]: true } = {
  addMember: true,
  noticeReuse: true,
  setPassword: true,
  setEmail: true,
  changePassword: true,
  createLink: true,
  useLink: true,
  createEmailCode: true,
  confirmEmail: true,
  addPasskey: true,
  usePasskey: true,
  removePasskey: true,
  removePassword: true,
  linkIdentity: true,
  unlinkIdentity: true,
  enableTotp: true,
  useTotp: true,
  useRecoveryCode: true,
  disableTotp: true,
  resetSecondFactor: true,
  replaceRecoveryCodes: true,
}

/** The input of an operation. Where the mails that it causes, or the number of providers, do not matter, it may have none. */
export type Given<Name extends OperationName> =
  | Input<Name>
  | (Input<Name> extends CausesMail ? DistributiveOmit<Input<Name>, 'mails'> : never)
  | (Name extends 'createProvider' ? Omit<Input<'createProvider'>, 'limit'> : never)

type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never

/** Runs one operation in its own batch. Fails the test if the operation failed. */
export async function perform<Name extends OperationName>(
  store: StoreDriver,
  name: Name,
  input: Given<Name>,
): Promise<Outcome<Name>> {
  const [outcome] = await performAll(store, name, [input])
  return outcome as Outcome<Name>
}

/**
 * Runs the same operation several times in one batch. It runs in its own turn of the event loop, because another process's
 * changes also arrive in another turn.
 */
export async function performAll<Name extends OperationName>(
  store: StoreDriver,
  name: Name,
  inputs: readonly Given<Name>[],
): Promise<Outcome<Name>[]> {
  const operations = inputs.map((input) => operationOf(name, input))
  await nextTurn()
  return outcomesOf(await store.commit(operations)) as Outcome<Name>[]
}

/** All operations of a batch must finish within the time limit of one statement, also on a busy machine. */
const IN_A_BATCH = 20

/** Runs operations of several statements, of which one batch with all would take too long. */
export async function performMany<Name extends OperationName>(
  store: StoreDriver,
  name: Name,
  inputs: readonly Given<Name>[],
): Promise<Outcome<Name>[]> {
  const outcomes: Outcome<Name>[] = []
  for (let from = 0; from < inputs.length; from += IN_A_BATCH)
    outcomes.push(...(await performAll(store, name, inputs.slice(from, from + IN_A_BATCH))))
  return outcomes
}

export function operationOf<Name extends OperationName>(name: Name, given: Given<Name>): Operation {
  const usual = name in CAUSES_MAIL ? { mails: [] } : name === 'createProvider' ? { limit: PROVIDER_LIMIT } : undefined
  const input = usual === undefined ? given : { ...usual, ...(given as object) }
  return { name, input } as Operation
}

/** Starts sessions in one batch, of users who are created before if there are none. */
export async function startSessions(
  store: StoreDriver,
  ...starts: readonly SessionStart[]
): Promise<Outcome<'startSession'>[]> {
  for (const id of new Set(starts.map(({ session }) => session.userId)))
    if ((await store.findUser(id)) === undefined) await perform(store, 'createUser', aUser({ id }))
  return performAll(store, 'startSession', starts)
}

/** Returns the outcomes of a batch. Fails the test if an operation failed. */
export function outcomesOf(results: readonly OperationResult[]): unknown[] {
  return results.map((result) => {
    if (result.kind === 'failed') throw new Error('An operation of the batch failed.', { cause: result.cause })
    return result.outcome
  })
}

/** Sends each input in its own batch, alternating between the handles, all at the same time. */
export async function race<Name extends OperationName>(
  { first, second }: Stores,
  name: Name,
  inputs: readonly Given<Name>[],
): Promise<Outcome<Name>[]> {
  return Promise.all(inputs.map((input, index) => perform(index % 2 === 0 ? first : second, name, input)))
}

/** A handle that gets one batch at a time, for stores whose server does the same (src/store/batching-store.ts). */
export function oneBatchAtATime(store: StoreDriver): StoreDriver {
  let last: Promise<unknown> = Promise.resolve()
  return {
    ...store,
    async commit(operations) {
      const mine = last.then(() => store.commit(operations))
      last = mine.catch(() => undefined)
      return mine
    },
  }
}

/** Counts the outcomes. */
export function tally(outcomes: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const kind = typeof outcome === 'string' ? outcome : (outcome as { readonly kind: string }).kind
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

/** How many attempts were counted in the windows of hits; undefined: none. */
export async function hitCounts(store: StoreDriver, hits: readonly Hit[]): Promise<readonly (number | undefined)[]> {
  const counts = hits.map(async ({ bucket, ...window }) => await store.listHits({ ...window, buckets: [bucket] }))
  return (await Promise.all(counts)).map((found, index) => found.get(hits[index]?.bucket ?? '')?.count)
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Returns whether each operation of a batch is `done` or `failed`. */
export function kindsOf(results: readonly OperationResult[]): readonly OperationResult['kind'][] {
  return results.map(({ kind }) => kind)
}

export function assertFailed(result: OperationResult | undefined): void {
  assert.equal(result?.kind, 'failed')
}
