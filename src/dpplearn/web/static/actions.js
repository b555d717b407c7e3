// What any part of the page may ask of the whole; app.js fills these in.

export const actions = {
  rule: (_id, _rule) => {}, // pin, ban or free a sentence, and select again
  goTo: (_id) => {}, // show a sentence in its source
  open: (_id, _anchor) => {}, // open the card of a sentence
  point: (_id) => {}, // the pointer or the focus is on a sentence (null: on none)
};
