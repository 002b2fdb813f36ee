import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { flag, readOptions } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { DAILY, proofsOf, type Proof } from './list.ts'

/** The proofs of what a release delivers, and one long proof, another each day. See docs/proofs.md. */

const { all, keep } = readOptions({
  all: flag('all long proofs, not that of the day alone: about an hour'),
  keep: flag('append the results to prove/results/'),
})

/** A line of a report that is kept (prove/findings.ts). */
const KEPT = /^for (prove\/results\/[a-z-]+\.jsonl): (\{.*\})$/gm
const DAY_MS = 86_400_000

/** Runs a proof with its output. Returns whether its claim holds. */
async function prove({ name, options }: Proof): Promise<boolean> {
  const child = spawn(process.execPath, ['prove/run.ts', name, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    process.stdout.write(chunk)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (keep) for (const [, file = '', line = ''] of printed.matchAll(KEPT)) appendFileSync(file, `${line}\n`)
  return code === 0
}

beginSession()
const verdicts: string[] = []
for (const proof of all ? DAILY : proofsOf(Math.floor(Date.now() / DAY_MS))) {
  console.log(`\nnpm run prove ${[proof.name, ...proof.options].join(' ')}`)
  const holds = await prove(proof)
  if (!holds) process.exitCode = 1
  verdicts.push(`${holds ? 'kept  ' : 'BROKEN'}  ${proof.name}`)
}
console.log(`\n${verdicts.join('\n')}`)
