/**
 * What stands where an image has nothing to show: as wide as a mail, and as low as possible. A PNG of 600 by 1 pixels
 * of one bit each, all of them transparent.
 */
export const transparentImage = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAlgAAAABAQMAAAA4tkKJAAAAA1BMVEUAAACnej3aAAAAAXRSTlMAQObYZgAAAAxJREFUeJxjYKAeAAAATAABTm8IbAAAAABJRU5ErkJggg==',
  'base64',
)
