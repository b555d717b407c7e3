"""From text to sentences, words and lengths: nothing here knows of documents."""
