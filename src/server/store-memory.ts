import { closeSync, existsSync, fsyncSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Chains } from '../audit/chain.ts'
import { createDraft, syncFolder } from '../files/durable-file.ts'
import type { Store } from '../ports/store.ts'
import { auditLinkId } from '../protocol/audit/audit-link.ts'
import type { EpochMs } from '../base/brand.ts'
import type { Random } from '../protocol/ids.ts'
import type { Secrets } from '../protocol/secrets.ts'
import {
  compareStore,
  needsNewest,
  type SeenLink,
  type StoreKnowledge,
  type StoreMemory,
  type StorePlace,
  type StoreStep,
} from '../base/store-place.ts'
import { STORE_ERAS, WENT_BACK } from '../store/nouns/server/settings.ts'
import type { Log } from './log.ts'

/** Notices that the store went back: that it was restored by other means than `grantor restore`. */
export interface StoreWatch {
  /** Whether the store lacks what this node remembers of it, and the operator has not answered yet. Then nothing is served. */
  readonly hasGoneBack: () => boolean
  /** Whether this node began the store, as the same issuer: one that is served beside a copy with its memory is another. */
  readonly isOriginal: () => boolean
  /** Compares the store with what is remembered, before anything is served. `isNew`: the store has no master key yet. */
  readonly open: (isNew: boolean) => Promise<void>
  /** Remembers the store as it is now, because the operator has answered. */
  readonly confirm: () => Promise<void>
  /** Compares now. Rejects if the store is unavailable. */
  readonly check: () => Promise<void>
  /** Compares at intervals. `onChange` is called when the store went back, and when the operator has answered. Returns the stop. */
  readonly start: (onChange: (hasGoneBack: boolean) => void) => () => void
  /** Writes what a process that ends remembers, unless the store went back. */
  readonly close: () => Promise<void>
}

interface Dependencies {
  readonly store: Pick<Store, 'findStorePlace' | 'insertSettingOnce' | 'listAuditLinks' | 'replaceSetting'>
  readonly chains: Chains
  readonly secrets: Pick<Secrets, 'digest'>
  readonly logger: Log
  readonly issuer: string
  /** Where the memory outlives the process; undefined: nowhere. */
  readonly path: string | undefined
}

const COMPARE_INTERVAL_MS = 1000
/** The file is written at most this often. */
const WRITE_INTERVAL_MS = 10_000
const ERA_BYTES = 16
/** The commands with which the operator answers. */
const ANSWERS = {
  wentBack: 'grantor restore --in-place',
  nothingLost: 'grantor restore --nothing-lost',
} as const

export function openStoreWatch({ store, chains, secrets, logger, issuer, path }: Dependencies): StoreWatch {
  let known: StoreKnowledge | undefined
  let checking = Promise.resolve()
  const file = openMemoryFile(path, logger)
  const isBack = (): boolean => known?.isBack === true

  /** Compares, and remembers what this process has committed since. */
  async function compare(before: StoreKnowledge): Promise<{ steps: readonly StoreStep[]; place: StorePlace }> {
    // Read first: what is committed later is compared next time.
    const last = chains.lastHead()
    const head = last === undefined ? undefined : { id: auditLinkId(last), hash: last.hash }
    const place = await store.findStorePlace(before.memory.link?.id)
    const newest = needsNewest(before, { place, head }) ? await newestLink(store) : undefined
    const compared = compareStore(before, { place, head, newest })
    known = compared.known
    return { steps: compared.steps, place }
  }

  /** Marks the store, so that every other process serves nothing either, also one that remembers less than the store has. */
  async function mark({ eras, isMarked }: StorePlace): Promise<void> {
    if (isMarked) return
    const value = eras.at(-1) ?? firstEra(secrets)
    // Another comparison marks a store that takes no writes now.
    await store.replaceSetting({ name: WENT_BACK, value }).catch(() => undefined)
  }

  async function remember(): Promise<StoreMemory> {
    const { eras } = await store.findStorePlace(undefined)
    if (eras.length > 0) return { eras, link: await newestLink(store), isUnconfirmed: true, begunAs: undefined }
    return {
      eras: await beginFirstEra(store, secrets),
      link: await newestLink(store),
      isUnconfirmed: false,
      begunAs: issuer,
    }
  }

  async function take(step: StoreStep, place: StorePlace): Promise<void> {
    switch (step) {
      case 'went-back':
        // Links that follow lost ones would look like links that were removed.
        chains.abandon()
        return logger.error({
          event: 'store.went-back',
          if_restored: ANSWERS.wentBack,
          if_nothing_was_lost: ANSWERS.nothingLost,
        })
      case 'answered':
        return logger.info({ event: 'store.answered' })
      case 'mark':
        return mark(place)
      case 'save':
        return file.save(known?.memory)
      case 'save-later':
        return file.isDue() ? file.save(known?.memory) : undefined
    }
  }

  async function compareOnce(): Promise<void> {
    if (known === undefined) return
    const { steps, place } = await compare(known)
    for (const step of steps) await take(step, place)
  }

  /** A comparison that began earlier does not replace the result of one that began later. */
  function check(): Promise<void> {
    checking = checking.then(compareOnce, compareOnce)
    return checking
  }

  return {
    hasGoneBack: isBack,
    isOriginal: () => known?.memory.begunAs === issuer,
    async open(isNew) {
      const memory = (path === undefined || isNew ? undefined : readMemory(path)) ?? (await remember())
      known = { memory, isBack: false }
      await check()
    },
    check,
    async confirm() {
      const memory = { ...(await remember()), isUnconfirmed: false, begunAs: undefined }
      known = { memory, isBack: isBack() }
      file.save(memory)
    },
    start: (onChange) => checkAtIntervals(check, isBack, onChange),
    async close() {
      // A command compares nothing before it ends.
      const memory = path === undefined || chains.lastHead() === undefined ? undefined : readMemory(path)
      const last = known ?? (memory === undefined ? undefined : { memory, isBack: false })
      if (last === undefined || last.isBack) return
      await compare(last).then(
        () => (isBack() ? undefined : file.save(known?.memory)),
        () => undefined,
      )
    },
  }
}

async function newestLink(store: Pick<Store, 'listAuditLinks'>): Promise<SeenLink | undefined> {
  const [link] = await store.listAuditLinks({ before: undefined, limit: 1, since: 0 as EpochMs })
  return link === undefined ? undefined : { id: link.id, hash: link.hash }
}

/** Calls `onChange` when the store went back, and when its operator has answered. Returns the stop. */
function checkAtIntervals(
  check: () => Promise<void>,
  isBack: () => boolean,
  onChange: (hasGoneBack: boolean) => void,
): () => void {
  let isChecking = false
  const timer = setInterval(() => {
    if (isChecking) return
    isChecking = true
    const before = isBack()
    // While the store is unavailable, nothing can be compared. The next attempt follows in a second.
    void check()
      .then(undefined, () => undefined)
      .finally(() => {
        isChecking = false
        if (isBack() !== before) onChange(isBack())
      })
  }, COMPARE_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** What is remembered for the process after this one. */
interface MemoryFile {
  readonly isDue: () => boolean
  /**
   * Writes what differs from what was written last. The ids of links do not say which is newer, because a clock may go back, and another
   * process of this machine, a worker or a command, may have written since.
   */
  readonly save: (memory: StoreMemory | undefined) => void
}

function openMemoryFile(path: string | undefined, logger: Log): MemoryFile {
  let writtenAt = Number.NEGATIVE_INFINITY
  let written = ''
  return {
    isDue: () => performance.now() - writtenAt >= WRITE_INTERVAL_MS,
    save(memory) {
      writtenAt = performance.now()
      const text = JSON.stringify(memory)
      if (path === undefined || memory === undefined || text === written) return
      try {
        writeDurably(path, text)
        written = text
      } catch (cause) {
        logger.warn({ event: 'store.memory-failed', path, err: cause })
      }
    },
  }
}

/** Makes the id of an era. */
export function newEra(random: Random): string {
  return random(ERA_BYTES).toString('base64url')
}

/**
 * Begins the first era of a store that has none. Its id follows from the master key, so a copy from before it, in which another node begins
 * it again, is not taken for another store. Returns the eras.
 */
export async function beginFirstEra(
  store: Pick<Store, 'insertSettingOnce'>,
  secrets: Pick<Secrets, 'digest'>,
): Promise<readonly string[]> {
  const own = JSON.stringify([firstEra(secrets)])
  return JSON.parse(await store.insertSettingOnce({ name: STORE_ERAS, value: own })) as readonly string[]
}

function firstEra({ digest }: Pick<Secrets, 'digest'>): string {
  return digest('era', [])
}

/** Reads what is remembered. A file that is missing or not readable remembers nothing. */
export function readMemory(path: string): StoreMemory | undefined {
  if (!existsSync(path)) return undefined
  try {
    const { eras, link, isUnconfirmed, begunAs } = JSON.parse(readFileSync(path, 'utf8')) as StoreMemory
    const isWhole = eras.length > 0 && typeof (link?.id ?? '') === 'string' && typeof (link?.hash ?? '') === 'string'
    return isWhole ? { eras, link, isUnconfirmed, begunAs } : undefined
  } catch {
    return undefined
  }
}

/** Replaces the file, so that a process that is killed leaves the old one or the new one. */
function writeDurably(path: string, text: string): void {
  const draft = createDraft(path, '')
  try {
    writeSync(draft.file, `${text}\n`)
    fsyncSync(draft.file)
    renameSync(draft.path, path)
  } catch (cause) {
    rmSync(draft.path, { force: true })
    throw cause
  } finally {
    closeSync(draft.file)
  }
  syncFolder(dirname(path))
}
