import type { Case } from './case.ts'
import type { Judgement, ResultKind } from './judge.ts'

export const FORMATS = ['text', 'markdown', 'json'] as const
export type Format = (typeof FORMATS)[number]

const KINDS: readonly ResultKind[] = ['passed', 'failed', 'warning', 'skipped', 'unclear']

/** The report of a run. It has no secret, code or token: no case puts one into what it has seen. */
export function report(judgement: Judgement, format: Format): string {
  const { issuer, seed, results, clientsLeft } = judgement
  switch (format) {
    case 'json':
      return JSON.stringify(judgement, undefined, 2)
    case 'markdown': {
      const rows = results.map(
        ({ id, title, level, source, result, seen }) =>
          `| ${id} | ${level} | ${result} | ${title} ${seen} | ${source} |`,
      )
      return `# ${issuer}\n\n| Case | Level | Result | Claim, and what was seen | Source |\n|---|---|---|---|---|\n${rows.join('\n')}\n\n${lastLine()}`
    }
    case 'text': {
      const lines = results.map(
        ({ id, title, source, result, seen }) =>
          `${result.padEnd(8)} ${id.padEnd(9)} ${title} (${source})${seen === '' ? '' : `\n${' '.repeat(19)}${seen}`}`,
      )
      return `${lines.join('\n')}\n\n${lastLine()}`
    }
  }

  function lastLine(): string {
    const counts = KINDS.map((kind) => `${results.filter(({ result }) => result === kind).length} ${kind}`)
    const left = clientsLeft === 0 ? '' : `; clients left at the issuer: ${clientsLeft}`
    return `${counts.join(', ')}; seed ${seed}${left}`
  }
}

/** 0: nothing failed; 1: a case failed; 3: nothing failed, and something is unclear. */
export function exitCodeOf({ results }: Judgement): number {
  if (results.some(({ result }) => result === 'failed')) return 1
  return results.some(({ result }) => result === 'unclear') ? 3 : 0
}

export function list(cases: readonly Case[]): string {
  return cases
    .map(({ id, level, title, source, kind }) => {
      const needs = kind === 'killed' ? '; needs --restart' : ''
      return `${id.padEnd(9)} ${level.padEnd(6)} ${title} (${source}${needs})`
    })
    .join('\n')
}
