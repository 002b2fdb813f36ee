import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openProject } from './runtimes.ts'
import { runTool } from './tool.ts'

const COMPILERS = ['5.9', '6', '7'] as const
const RESOLUTIONS = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const

/** A program that uses each member. The line after each `@ts-expect-error` must be an error. */
const PROGRAM = `
import { createServer } from 'node:http'
import { AdminError, createGrantor, TokenRefused, type Person, type TokenClaims } from 'grantor'

const person: Person = { subject: 'u_1', authenticatedAt: new Date() }
const grantor = await createGrantor({
  issuer: 'https://app.example/auth',
  secret: process.env['GRANTOR_SECRET'],
  settings: { accessTokenLifetime: 900, registration: 'token', redirectSchemes: ['app'] },
  people: { current: () => person, signInAddress: (returnTo) => '/login?next=' + encodeURIComponent(returnTo) },
})
createServer(grantor.handler)
const response: Response = await grantor.fetch(new Request('https://app.example/auth'), { address: '127.0.0.1' })
// @ts-expect-error The address of the caller is needed.
await grantor.fetch(new Request('https://app.example/auth'))
const { user_id } = await grantor.tasks['user.create']({ email: 'ada@acme.test' })
// @ts-expect-error There is no such member.
await grantor.tasks['user.create']({ mail: 'ada@acme.test' })
const claims: TokenClaims = await grantor.verify('', { resource: 'https://api.example' })
const [text, isReady]: [string, boolean] = [await grantor.metrics(), await grantor.ready()]
console.log(response.status, user_id satisfies string, claims.sub, text, isReady, AdminError, new TokenRefused('invalid_token', '').status)
await grantor.close()
`

/** Compiles a program against the packed types, strictly and with the declarations checked. @throws Error with what a compiler says */
export function checkTypes(packed: string): string {
  const folder = openProject()
  runTool('npm', ['install', '--silent', packed, '@types/node@24'], folder)
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  for (const version of COMPILERS) {
    for (const [module, moduleResolution] of RESOLUTIONS) {
      const compilerOptions = {
        module,
        moduleResolution,
        target: 'es2024',
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
      }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
      runTool('npx', ['--yes', '--package', `typescript@${version}`, 'tsc', '--project', '.'], folder)
    }
  }
  return `TypeScript ${COMPILERS.join(', ')} with ${RESOLUTIONS.map(([, name]) => name).join(' and ')}`
}
