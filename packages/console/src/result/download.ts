/** Hands a file to the browser. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** A name of a file, of what a title says. */
export const fileNameOf = (title: string, ending: string): string =>
  `${
    title
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 80) || 'millrace'
  }.${ending}`

const margin = 24

async function imageOf(svg: SVGSVGElement): Promise<HTMLImageElement> {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const originals = svg.querySelectorAll<SVGElement>('*')
  // A picture of its own knows no style sheet.
  for (const [i, element] of copy.querySelectorAll<SVGElement>('*').entries()) {
    const { fill, stroke, font, textAnchor } = getComputedStyle(originals[i] as SVGElement)
    for (const [name, value] of Object.entries({ fill, stroke, font, 'text-anchor': textAnchor }))
      element.style.setProperty(name, value)
  }
  const { width, height } = svg.getBoundingClientRect()
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  const image = new Image(width, height)
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
  await image.decode()
  return image
}

/**
 * The chart within an element as a PNG with its title and, where it has one, its legend.
 * @returns undefined where it is no chart
 */
export async function pictureOf(place: HTMLElement, title: string): Promise<Blob | undefined> {
  const drawn = place.querySelector('canvas') ?? place.querySelector<SVGSVGElement>('svg[role="img"]')
  if (!drawn) return undefined
  const { width, height } = drawn.getBoundingClientRect()
  const scale = Math.max(2, devicePixelRatio)
  const style = getComputedStyle(place)
  const labels = [...place.querySelectorAll<HTMLElement>('figcaption button[aria-pressed="true"]')]
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * margin) * scale
  canvas.height = (height + 3 * margin + (labels.length > 0 ? 28 : 0)) * scale
  const context = canvas.getContext('2d')
  if (!context) return undefined
  context.scale(scale, scale)
  context.fillStyle = groundOf(place)
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = style.color
  context.font = '600 15px system-ui, sans-serif'
  context.fillText(title, margin, margin + 6, width)
  context.drawImage(
    drawn instanceof SVGSVGElement ? await imageOf(drawn) : drawn,
    margin,
    2 * margin,
    width,
    height,
  )
  context.font = '13px system-ui, sans-serif'
  let left = margin
  for (const label of labels) {
    const dot = label.querySelector('span')
    const text = label.textContent ?? ''
    context.fillStyle = dot ? getComputedStyle(dot).backgroundColor : style.color
    context.fillRect(left, height + 2 * margin + 12, 9, 9)
    context.fillStyle = style.color
    context.fillText(text, left + 15, height + 2 * margin + 21)
    left += context.measureText(text).width + 34
  }
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), 'image/png'))
}

function groundOf(place: HTMLElement): string {
  for (let element: HTMLElement | null = place; element; element = element.parentElement) {
    const { backgroundColor } = getComputedStyle(element)
    if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor
  }
  return '#ffffff'
}
