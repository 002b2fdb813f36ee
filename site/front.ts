/** The facts of the front page that other files have. */
export interface FrontFacts {
  readonly version: string
  /** README.md with the links of the site. */
  readonly readme: string
  /** test/threats.md: a row for each attack or failure. */
  readonly threats: string
  /** test/mcp.md: a row for each requirement. */
  readonly requirements: string
  /** prove/results/restarts.jsonl, whose last line is the newest run. */
  readonly restarts: string
}

/** Fills the front page with parts of the README and with figures of the newest results, so that it repeats neither. @throws Error */
export function frontPage(template: string, { version, readme, threats, requirements, restarts }: FrontFacts): string {
  const [sentences = '', limits = ''] = part(
    readme,
    /^## How it compares\n\n([^]*?)\n\n(\*\*Grantor is new[^]*?)\n\n## /m,
  )
  const parts: Readonly<Record<string, string>> = {
    version,
    start: part(readme, /^(```sh\n[^]*?^```\n\n```\n[^]*?^```)$/m)[0] ?? '',
    mcp: part(readme, /^## Protect an MCP server\n\n([^]*?)\n\n<p /m)[0] ?? '',
    comparison: sentences,
    limits,
    attacks: String(new Set(threats.match(/^\| [A-Z]+-\d+ \|/gm)).size),
    requirements: String(new Set(requirements.match(/^\| MCP-\d+ \|/gm)).size),
    writes: part(restarts.trim().split('\n').at(-1) ?? '', /([\d,]+) acknowledged writes, none lost/)[0] ?? '',
  }
  return template.replaceAll(/\{\{(\w+)\}\}/g, (token, name: string) => {
    const text = parts[name]
    if (text === undefined || text === '' || text === '0') throw new Error(`The front page has no text for ${token}.`)
    return text
  })
}

function part(text: string, pattern: RegExp): readonly string[] {
  const found = pattern.exec(text)
  if (found === null) throw new Error(`The front page does not find ${pattern}.`)
  return found.slice(1)
}
