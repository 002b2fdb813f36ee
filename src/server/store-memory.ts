import { closeSync, existsSync, fsyncSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Chains } from '../audit/chain.ts'
import { createDraft, syncFolder } from '../files/durable-file.ts'
import type { Store } from '../ports/store.ts'
import { auditLinkId } from '../protocol/audit/audit-link.ts'
import type { EpochMs } from '../base/brand.ts'
import type { Random } from '../protocol/ids.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { compareWithMemory, type StoreMemory, type StorePlace } from '../base/store-place.ts'
import { STORE_ERAS, WENT_BACK } from '../store/settings.ts'
import type { Log } from './log.ts'

/** Notices that the store went back: that it was restored by other means than `grantor restore` (decision 0031). */
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

/**
 * The memory is never ahead of what the store has on disk: a link is remembered after its commit, and replaces the one before only
 * when the store still had that one.
 */
export function openStoreWatch({ store, chains, secrets, logger, issuer, path }: Dependencies): StoreWatch {
  let memory: StoreMemory | undefined
  let isBack = false
  let writtenAt = Number.NEGATIVE_INFINITY
  let written = ''
  let checking = Promise.resolve()

  async function newestLink(): Promise<StoreMemory['link']> {
    const [link] = await store.listAuditLinks({ before: undefined, limit: 1, since: 0 as EpochMs })
    return link === undefined ? undefined : { id: link.id, hash: link.hash }
  }

  /** Compares, and remembers what this process has committed since. Returns the place of a store that went back. */
  async function compare(known: StoreMemory): Promise<StorePlace | undefined> {
    // Read first: what is committed later is compared next time.
    const head = chains.lastHead()
    const place = await store.findStorePlace(known.link?.id)
    const comparison = compareWithMemory(known, place)
    if (comparison === 'back') return place
    if (comparison === 'unknown') {
      const isAnswered = isBack || (place.eras[0] === known.eras[0] && place.eras.at(-1) !== known.eras.at(-1))
      memory = { eras: place.eras, link: await newestLink(), isUnconfirmed: !isAnswered, begunAs: undefined }
    } else {
      const link =
        head === undefined ? (known.link ?? (await newestLink())) : { id: auditLinkId(head), hash: head.hash }
      memory = { ...known, eras: place.eras, link }
    }
    return undefined
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
    if (eras.length > 0) return { eras, link: await newestLink(), isUnconfirmed: true, begunAs: undefined }
    return {
      eras: await beginFirstEra(store, secrets),
      link: await newestLink(),
      isUnconfirmed: false,
      begunAs: issuer,
    }
  }

  /**
   * Remembers for the process after this one, if there is something newer. The ids of links do not say which is newer, because a clock may
   * go back, and another process of this machine, a worker or a command, may have written since.
   */
  function save(): void {
    writtenAt = performance.now()
    const text = JSON.stringify(memory)
    if (path === undefined || memory === undefined || text === written) return
    try {
      writeDurably(path, text)
      written = text
    } catch (cause) {
      logger.warn({ event: 'store.memory-failed', path, err: cause })
    }
  }

  function report(hasGoneBack: boolean): void {
    isBack = hasGoneBack
    if (!hasGoneBack) return logger.info({ event: 'store.answered' })
    // Links that follow lost ones would look like links that were removed.
    chains.abandon()
    logger.error({ event: 'store.went-back', if_restored: ANSWERS.wentBack, if_nothing_was_lost: ANSWERS.nothingLost })
  }

  async function compareOnce(): Promise<void> {
    if (memory === undefined) return
    const back = await compare(memory)
    const hasGoneBack = back !== undefined
    if (hasGoneBack !== isBack) {
      report(hasGoneBack)
      // Until the operator has answered, also after a restart.
      if (hasGoneBack) save()
    }
    if (hasGoneBack) await mark(back)
    else if (performance.now() - writtenAt >= WRITE_INTERVAL_MS) save()
  }

  /** A comparison that began earlier does not replace the result of one that began later. */
  function check(): Promise<void> {
    checking = checking.then(compareOnce, compareOnce)
    return checking
  }

  return {
    hasGoneBack: () => isBack,
    isOriginal: () => memory?.begunAs === issuer,
    async open(isNew) {
      memory = path === undefined || isNew ? undefined : readMemory(path)
      memory ??= await remember()
      await check()
    },
    check,
    async confirm() {
      memory = { ...(await remember()), isUnconfirmed: false, begunAs: undefined }
      save()
    },
    start(onChange) {
      let isChecking = false
      const timer = setInterval(() => {
        if (isChecking) return
        isChecking = true
        const before = isBack
        // While the store is unavailable, nothing can be compared. The next attempt follows in a second.
        void check()
          .then(undefined, () => undefined)
          .finally(() => {
            isChecking = false
            if (isBack !== before) onChange(isBack)
          })
      }, COMPARE_INTERVAL_MS).unref()
      return () => clearInterval(timer)
    },
    async close() {
      // A command compares nothing before it ends.
      const known = memory ?? (path === undefined || chains.lastHead() === undefined ? undefined : readMemory(path))
      if (known === undefined || isBack) return
      const isCompared = await compare(known).then(
        (back) => back === undefined,
        () => false,
      )
      if (isCompared) save()
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
