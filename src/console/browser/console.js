// @ts-check

/** The script of the console: counting a selection, copying, keys, and searching on. Each page works without it. */
export function consoleScript() {
  const all = (/** @type {string} */ selector) =>
    /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)])
  const one = (/** @type {string} */ selector) => all(selector)[0] ?? null

  for (const button of all('[data-copy]')) {
    button.hidden = navigator.clipboard === undefined
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(() => {
        button.setAttribute('aria-label', 'Copied')
        button.classList.add('copied')
      })
    })
  }

  const boxes = /** @type {HTMLInputElement[]} */ (all('.list [name=subject]'))
  const count = one('[data-count]')
  const changes = all('.list .bar [name=task]')
  const say = () => {
    const chosen = boxes.filter(({ checked }) => checked).length
    if (count === null) return
    for (const change of changes) change.hidden = chosen === 0
    count.hidden = false
    count.classList.toggle('muted', chosen === 0)
    if (chosen === 0) {
      count.textContent = 'Choose rows to change them'
      return
    }
    count.textContent = `${chosen} selected`
  }
  for (const box of boxes) box.addEventListener('change', say)
  say()

  const KEYS = 'grantor-console-keys'
  const areOn = () => localStorage.getItem(KEYS) !== 'off'
  const help = /** @type {HTMLDialogElement | null} */ (one('[data-help]'))
  const toggle = /** @type {HTMLInputElement | null} */ (one('[data-keys-switch]'))
  const hint = one('[data-key]')
  const showKeys = () => {
    if (hint !== null) hint.hidden = !areOn()
    if (toggle !== null) toggle.checked = areOn()
  }
  showKeys()
  toggle?.addEventListener('change', () => {
    localStorage.setItem(KEYS, toggle.checked ? 'on' : 'off')
    showKeys()
  })
  for (const button of all('[data-show-help]')) {
    button.hidden = false
    button.addEventListener('click', () => help?.showModal())
  }

  const rows = all('[data-row]')
  let at = -1
  let isGoing = false
  const move = (/** @type {number} */ step) => {
    rows[at]?.classList.remove('at')
    at = Math.min(Math.max(at + step, 0), rows.length - 1)
    rows[at]?.classList.add('at')
    rows[at]?.scrollIntoView({ block: 'nearest' })
    const link = /** @type {HTMLElement | null | undefined} */ (rows[at]?.querySelector('a'))
    link?.focus({ preventScroll: true })
  }
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target)
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open === true || !areOn()) return
    if (/^(input|select|textarea)$/i.test(target.tagName) && target.getAttribute('type') !== 'checkbox') return
    const { key } = event
    if (isGoing) {
      isGoing = false
      one(`[data-go="${/^[a-z]$/.test(key) ? key : ''}"]`)?.click()
      return
    }
    switch (key) {
      case '/':
        event.preventDefault()
        one('[data-search]')?.focus()
        return
      case 'g':
        isGoing = true
        return
      case 'j':
      case 'k':
        move(key === 'j' ? 1 : -1)
        return
      case 'x': {
        const box = /** @type {HTMLElement | null | undefined} */ (rows[at]?.querySelector('[name=subject]'))
        box?.click()
        return
      }
      case '?':
        help?.showModal()
    }
  })
}
