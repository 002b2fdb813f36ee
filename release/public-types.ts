import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The types that a program imports, in the folder of declarations that the compiler writes. */
export const TYPES_FILE = 'library/grantor.d.ts'

/** A declaration at the top of a file, with its comment. The compiler indents all but the first line and the closing brace. */
const DECLARATION =
  /^(?:\/\*\*(?:(?!\*\/)[^])*\*\/\n)?(?:export )?(?:declare )?(?:interface|class|function|type|const) (\w+).*\n(?:[ }].*\n)*/gm
/** What a file takes from another one, or exports from it. */
const FROM = /^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)';$/gm
const ALL_FROM = /^export type \* from '[^']+';$/gm

interface Declared {
  readonly file: string
  readonly name: string
}

/**
 * Returns the declarations that the library exports and those that they name, at any remove, as one file. The 150 files that the compiler
 * writes for them are a tenth of the package, and declare mostly what no program can import.
 *
 * @throws Error if a name is not declared, or two declarations have it
 */
export function bundleTypes(folder: string): string {
  const entry = readFile(join(folder, TYPES_FILE))
  const found = new Map<string, { readonly file: string; readonly text: string }>()
  const outside = new Map<string, Set<string>>()
  const take = ({ file, name }: Declared): void => {
    const known = found.get(name)
    if (known?.file === file) return
    const { declarations, imports } = readFile(file)
    const text = declarations.get(name)
    if (text === undefined) throw new Error(`${file} does not declare ${name}.`)
    if (known !== undefined) throw new Error(`${name} is declared in ${known.file} and ${file}: rename one.`)
    found.set(name, { file, text })
    for (const [word] of withoutComments(text).matchAll(/\b[A-Za-z_]\w*\b/g)) {
      const from = imports.get(word)
      // A type names no function, and these have common names: `unknown`.
      if (from === undefined && isNamed(declarations.get(word))) take({ file, name: word })
      else if (from !== undefined && isOwn(from)) take({ file: fileOf(file, from), name: word })
      else if (from !== undefined) outside.set(from, (outside.get(from) ?? new Set()).add(word))
    }
  }
  const own = [...entry.declarations].filter(([, text]) => /^export /m.test(text)).map(([name]) => name)
  for (const name of own) take({ file: entry.file, name })
  for (const [name, from] of entry.exports) take({ file: fileOf(entry.file, from), name })

  const exported = new Set([...own, ...entry.exports.keys()])
  const imports = [...outside].map(
    ([from, names]) => `import type { ${[...names].toSorted().join(', ')} } from '${from}';\n`,
  )
  const declarations = [...found].map(([name, { text }]) => {
    const declared = text.replace(/^export /m, '').replace(/^(?=class |function |const )/m, 'declare ')
    return exported.has(name) ? declared.replace(/^(?=declare |interface |type )/m, 'export ') : declared
  })
  return [...imports, ...entry.all.map((line) => `${line}\n`), ...declarations, 'export {};\n'].join('')
}

/** Comments are for readers; a change of one changes nothing for a program. */
export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*[^]*?\*\/\s*/g, '')
}

function readFile(file: string) {
  const text = readFileSync(file, 'utf8')
  const named = [...text.matchAll(FROM)].flatMap(([line, list = '', from = '']) =>
    list.split(',').map((one) => [line.startsWith('import'), one.replace('type ', '').trim(), from] as const),
  )
  const renamed = named.find(([, name]) => name.includes(' '))
  if (renamed !== undefined) throw new Error(`${file} renames what it takes: ${renamed[1]}.`)
  const of = (isImport: boolean): ReadonlyMap<string, string> =>
    new Map(named.filter(([is]) => is === isImport).map(([, name, from]) => [name, from]))
  return {
    file,
    declarations: new Map([...text.matchAll(DECLARATION)].map(([declaration, name = '']) => [name, declaration])),
    imports: of(true),
    exports: of(false),
    all: text.match(ALL_FROM) ?? [],
  }
}

function isNamed(declaration: string | undefined): boolean {
  return declaration !== undefined && !/^(?:export )?declare function /m.test(declaration)
}

/** Whether the compiler writes the file: the table of settings and tasks is a declaration file of its own. */
function isOwn(from: string): boolean {
  return from.startsWith('.') && !from.endsWith('.d.ts')
}

function fileOf(file: string, from: string): string {
  return join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts'))
}
