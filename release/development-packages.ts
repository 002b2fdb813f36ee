import { existsSync } from 'node:fs'

/** Ends this process with a sentence if a package that only development needs is missing: `npm ci --omit=dev` leaves them out. */
export function requireDevelopmentPackages(script: string, ...names: readonly string[]): void {
  const missing = names.find((name) => !existsSync(`node_modules/${name}/package.json`))
  if (missing === undefined) return
  console.error(
    `npm run ${script} needs ${missing}, a package for development, in a checkout of Grantor: run npm install first.`,
  )
  process.exit(1)
}
