"""How ids are written: the text itself, pinyin, zhuyin and IPA."""
