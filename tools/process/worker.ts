import { once } from 'node:events'
import { startChild } from './children.ts'

/** Functions that a child process runs for its parent. Inputs and results are sent over IPC. */
export type Functions = Readonly<Record<string, (input: never) => unknown>>

interface Call {
  readonly id: number
  readonly name: string
  readonly input: unknown
}

type Reply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly reason: string }

/** A worker process. */
export interface Worker<Table extends Functions> {
  readonly pid: number
  /** Rejects if the function throws or the process ends. */
  readonly call: <Name extends keyof Table & string>(
    name: Name,
    ...input: Parameters<Table[Name]>
  ) => Promise<Awaited<ReturnType<Table[Name]>>>
}

/** Starts the script of a worker on a core, and waits until it serves calls. */
export async function startWorker<Table extends Functions>(
  script: URL,
  core: number | undefined,
): Promise<Worker<Table>> {
  const child = startChild({ script, core })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  await once(child, 'message')
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('reason' in reply) call?.reject(new Error(reply.reason))
    else call?.resolve(reply.result)
  })
  child.once('exit', () => {
    for (const call of waiting.values()) call.reject(new Error(`${script.pathname} ended.`))
  })
  let id = 0
  return {
    pid: child.pid,
    call(name, ...[input]) {
      const result = Promise.withResolvers<unknown>()
      id += 1
      waiting.set(id, result)
      child.send({ id, name, input } satisfies Call)
      return result.promise as never
    },
  }
}

/** Serves the calls of the parent process. Without a parent that calls, for example in a test, it does nothing. */
export function serveCalls(functions: Functions): void {
  if (process.send === undefined) return
  process.on('disconnect', () => process.exit())
  process.on('message', ({ id, name, input }: Call) => {
    const run = async (): Promise<unknown> => functions[name]?.(input as never)
    run().then(
      (result) => process.send?.({ id, result } satisfies Reply),
      (cause: unknown) => process.send?.({ id, reason: String(cause) } satisfies Reply),
    )
  })
  process.send('ready')
}
